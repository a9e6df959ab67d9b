// The fields of requests that blocks on the route may change when they send a request on. Used by protocol_checker.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "protocol/data_protocol.h"

namespace t3vp {

struct SentFields {
  explicit SentFields(const tlm::tlm_generic_payload& transaction);

  std::uint64_t address = 0;
  bool is_extended = false;  ///< the payload has a DataExtension, from which the others are
  Operation operation = Operation::load;
  Stream stream = Stream::compute;
  TrafficClass traffic = TrafficClass::control;
  bool cached = false;
  Producer producer;
};

/// Returns the rule that is broken when a field of the response has not been sent so; null when none is.
const char* change_since(const std::vector<SentFields>& sent, const SentFields& response);

/// The requests in flight over all checkers of the process, each with its fields whenever a block has sent it on,
/// itself or as a relay.
class SentRequests {
 public:
  static SentRequests& of_process();

  void sent(const tlm::tlm_generic_payload& transaction);
  void ended(const tlm::tlm_generic_payload& transaction);
  /// Returns the fields with which it has been sent on so far; empty when it is not in flight.
  std::vector<SentFields> fields_of(const tlm::tlm_generic_payload& transaction) const;

 private:
  struct Sent {
    std::vector<SentFields> fields;
    unsigned sockets = 0;  ///< that it has passed without a response
  };
  std::unordered_map<const tlm::tlm_generic_payload*, Sent> sent_;
};

}  // namespace t3vp
