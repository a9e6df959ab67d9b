// Packets that a fabric port has sent and that have no response yet, found by their transaction. Thousands may be in
// flight.
#pragma once

#include <unordered_map>
#include <vector>

#include "protocol/data_protocol.h"

namespace t3vp::interconnect {

/// A transaction in flight, with the source that waits for its response.
struct Pending {
  tlm::tlm_generic_payload* transaction;
  int source;
  /// For a peer's read and its response: the request, which waits until the response has left.
  tlm::tlm_generic_payload* request = nullptr;
};

class PendingPackets {
 public:
  void add(const Pending& pending) {
    places_[pending.transaction] = all_.size();
    all_.push_back(pending);
  }
  /// Null: there is none. Valid until one is added or taken out.
  Pending* find(const tlm::tlm_generic_payload& transaction) {
    const auto place = places_.find(&transaction);
    return place == places_.end() ? nullptr : &all_[place->second];
  }
  /// One that is there.
  Pending take(const tlm::tlm_generic_payload& transaction) {
    const auto place = places_.find(&transaction);
    const Pending taken = all_[place->second];
    all_[place->second] = all_.back();
    places_[all_.back().transaction] = place->second;
    all_.pop_back();
    places_.erase(place);
    return taken;
  }
  std::vector<Pending>::const_iterator begin() const { return all_.begin(); }
  std::vector<Pending>::const_iterator end() const { return all_.end(); }

 private:
  std::vector<Pending> all_;
  std::unordered_map<const tlm::tlm_generic_payload*, std::size_t> places_;
};

}  // namespace t3vp::interconnect
