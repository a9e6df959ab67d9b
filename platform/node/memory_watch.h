// Holds the accesses to a GPU's memory against what its software has said of it, where that is asked for.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/memory_checker.h"
#include "protocol/socket_probes.h"

namespace t3vp {

class MemoryWatch {
 public:
  /// `probes` joins the sockets in the end, and outlives this.
  MemoryWatch(bool is_on, std::uint16_t gpu, SocketProbes& probes) : is_on_(is_on), gpu_(gpu), probes_(probes) {}

  /// Joins sockets of the data path. `who` names the initiator of a request for people.
  template <typename Initiator, typename Target>
  void join(Initiator& initiator, Target& target, MemoryChecker::Name who) {
    if (!is_on_) return probes_.join(initiator, target);
    const auto whole = [this, who = std::move(who)](const DataExtension& request) { return who_of_gpu(who(request)); };
    data_.push_back(std::make_unique<MemoryChecker>(sc_core::sc_gen_unique_name("memory_checker"), whole, gpu_, table_,
                                                    violations_));
    insert(initiator, *data_.back(), target);
  }
  template <typename Initiator, typename Target>
  void join(Initiator& initiator, Target& target, const char* who) {
    join(initiator, target, [who](const DataExtension&) { return std::string(who); });
  }
  /// Joins sockets of the control path.
  template <typename Initiator, typename Target>
  void join_plain(Initiator& initiator, Target& target, const std::string& who) {
    if (!is_on_) return probes_.join(initiator, target);
    plain_.push_back(std::make_unique<PlainMemoryChecker>(sc_core::sc_gen_unique_name("memory_checker"),
                                                          who_of_gpu(who), table_, violations_));
    insert(initiator, *plain_.back(), target);
  }
  /// Takes what the program says of memory. Returns what is wrong with that, or nothing.
  std::string tell(std::uint64_t address, std::uint64_t bytes, MemoryUse use) {
    return is_on_ ? table_.tell(address, bytes, use, now()) : std::string();
  }

  const Violations& violations() const { return violations_; }

 private:
  template <typename Initiator, typename Checker, typename Target>
  void insert(Initiator& initiator, Checker& checker, Target& target) {
    initiator.bind(checker.in);
    probes_.join(checker.out, target, std::string(initiator.name()) + " -> " + target.name());
  }
  std::string who_of_gpu(const std::string& who) const { return who + " of GPU " + std::to_string(gpu_); }

  bool is_on_;
  std::uint16_t gpu_;
  SocketProbes& probes_;
  MemoryTable table_;
  Violations violations_;
  std::vector<std::unique_ptr<MemoryChecker>> data_;
  std::vector<std::unique_ptr<PlainMemoryChecker>> plain_;
};

}  // namespace t3vp
