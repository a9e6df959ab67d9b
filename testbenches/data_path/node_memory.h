// What compute clusters and caches see of a node: the memory of all its GPUs and their signals, functional, with a
// fixed latency, no contention, and a log of every access. Stores to all GPUs' address reach all of them at once.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/ring_signal.h"

namespace t3vp {

struct LoggedAccess {
  int port = 0;
  Picoseconds arrival = 0;
  std::uint64_t address = 0;
  Operation operation = Operation::load;
  Shape shape;
  TrafficClass traffic = TrafficClass::control;
  ElementType element = ElementType::fp16;
  bool cached = false, has_data = false;
  Producer producer;
  std::uint64_t threshold = 0;
  /// What a ring kernel's store to a peer, signal or wait says of the kernel; null when it says nothing.
  std::shared_ptr<const RingSignal> ring;
  tlm::tlm_response_status status_on_entry = tlm::TLM_INCOMPLETE_RESPONSE;
};

class NodeMemory : public sc_core::sc_module {
 public:
  /// Any number of initiators; an access' port in the log is its socket's place here.
  std::vector<std::unique_ptr<DataTargetSocket<NodeMemory>>> ports;
  std::vector<LoggedAccess> log;  ///< in the order of the calls
  Picoseconds latency = 200'000;
  /// When set: from the time of an answer to its delivery, announced in the answer's delay.
  Picoseconds announced_ahead = 0;
  /// When set: stores and updates are taken when they would be answered, and answered so much later.
  Picoseconds acknowledged_after = 0;
  /// Otherwise updates change nothing here: a cache has added them.
  bool adds = true;
  /// Called with every access when it is sent.
  std::function<void(const LoggedAccess&)> observe;
  /// Says how an access is answered; asked when it is sent.
  std::function<tlm::tlm_response_status(const LoggedAccess&)> judge;

  NodeMemory(const sc_core::sc_module_name& name, int port_count, std::uint16_t gpus, std::uint64_t bytes_per_gpu);

  unsigned char* at(std::uint64_t address);
  /// Adds to a signal of a GPU and answers the waits that this fulfils.
  void add_signal(std::uint64_t gpu, std::size_t index, std::uint64_t value);
  std::uint64_t signal(std::uint64_t gpu, std::size_t index) const { return signals_[gpu][index]; }
  std::size_t waiting() const { return waits_.size(); }
  /// Answers all waits, as signals do when their kernel is aborted.
  void withdraw_waits();

  std::vector<LoggedAccess> accesses(Operation operation) const;
  /// Bytes of an operation, all traffic classes or one.
  std::uint64_t bytes_of(Operation operation) const;
  std::uint64_t bytes_of(Operation operation, TrafficClass traffic) const;

 private:
  struct Pending {
    int port;
    bool answered;
    tlm::tlm_generic_payload* transaction;
    tlm::tlm_response_status verdict = tlm::TLM_OK_RESPONSE;
    bool taken = false;
  };
  void request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  unsigned debug(int, tlm::tlm_generic_payload&);
  void step();
  void arrive(const Pending& pending);
  void answer(const Pending& pending);
  bool in_memory(std::uint64_t address, const Shape& shape) const;
  void access_memory(tlm::tlm_generic_payload& transaction, std::uint64_t address, const DataExtension& extension);
  bool is_signal(std::uint64_t address, Operation operation) const;
  bool access_signal(const Pending& pending);

  std::uint64_t bytes_per_gpu_;
  std::vector<std::vector<unsigned char>> memories_;
  std::vector<std::vector<std::uint64_t>> signals_;
  std::vector<Pending> waits_;
  EventQueue<Pending> events_{[this] { step(); }};
};

}  // namespace t3vp
