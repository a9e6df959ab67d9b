// A last-level cache between scripted requesters and a functional memory.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "cache/last_level_cache.h"
#include "data_path/checked_sockets.h"
#include "data_path/named_registers.h"
#include "data_path/node_memory.h"
#include "protocol/cause.h"

namespace t3vp::cache {

/// Issues requests and notes when their answers come.
class Requester : public sc_core::sc_module {
 public:
  struct Answer {
    bool done = false;
    Picoseconds time = 0;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    std::vector<unsigned char> data;
    Cause cause;
  };
  DataInitiatorSocket<Requester> socket{"socket", this, &Requester::response};
  std::vector<Answer> answers;

  explicit Requester(const sc_core::sc_module_name& name) : sc_module(name) {}

  Transaction& make(Operation operation, std::uint64_t address, const Shape& shape) {
    Transaction& transaction = pool_.make(operation, address, shape);
    transaction.extension().token = answers.size();
    answers.emplace_back();
    return transaction;
  }
  /// The number of the answer.
  std::size_t send(Transaction& transaction, Picoseconds delay = 0) {
    const std::size_t number = transaction.extension().token;
    socket.send(transaction, delay);
    return number;
  }
  std::size_t load(std::uint64_t address, std::uint32_t bytes) {
    return send(make(Operation::load, address, {1, bytes, 0}));
  }
  std::size_t store(std::uint64_t address, std::uint32_t bytes, TrafficClass traffic = TrafficClass::gemm_write) {
    Transaction& transaction = make(Operation::store, address, {1, bytes, 0});
    transaction.extension().traffic = traffic;
    return send(transaction);
  }
  bool all_answered_well() const {
    for (const Answer& answer : answers)
      if (!answer.done || answer.status != tlm::TLM_OK_RESPONSE) return false;
    return true;
  }

 private:
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    const std::uint64_t number = extension_of(transaction).token;
    Answer& answer = answers[number];
    REQUIRE(!answer.done);
    answer.done = true;
    answer.time = now() + delay;
    answer.cause = Cause::current();
    answer.status = transaction.get_response_status();
    if (const unsigned char* data = transaction.get_data_ptr())
      answer.data.assign(data, data + transaction.get_data_length());
    transaction.release();
  }
  TransactionPool pool_;
};

struct CacheBench {
  static constexpr int fills = 0, bypass = 1, from_peers = 2, from_nic = 3;  ///< ports of the memory
  static constexpr Picoseconds memory_latency = 70'000;
  static constexpr std::uint64_t memory_bytes = 1 << 20;

  CacheParameters parameters;
  LastLevelCache cache;
  NodeMemory memory;
  Requester compute{"compute"}, peer{"peer"}, nic{"nic"};
  NamedRegisters registers{cache.registers};
  CheckedSockets checks;

  /// The last of several benches starts the simulation.
  explicit CacheBench(const CacheParameters& p, bool start = true, int memory_ports = 4)
      : parameters(p), cache("cache", p, memory_latency, 0), memory("memory", memory_ports, 1, memory_bytes) {
    checks.join_test(compute.socket, cache.compute);
    checks.join_test(peer.socket, cache.peers);
    checks.join_test(nic.socket, cache.nic);
    checks.join(cache.memory, *memory.ports[fills]);
    checks.join(cache.bypass, *memory.ports[bypass]);
    checks.join(cache.peer_memory, *memory.ports[from_peers]);
    checks.join(cache.nic_memory, *memory.ports[from_nic]);
    if (start) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// One set: the order of use alone decides what is evicted.
  static CacheParameters fully_associative(std::uint32_t lines) {
    CacheParameters p;
    p.banks = 1;
    p.ways = lines;
    p.capacity_bytes = std::uint64_t{lines} * p.line_bytes;
    return p;
  }
  static CacheParameters of_sets(std::uint32_t sets, std::uint32_t ways) {
    CacheParameters p;
    p.banks = sets;
    p.ways = ways;
    p.capacity_bytes = std::uint64_t{sets} * ways * p.line_bytes;
    return p;
  }

  void settle() { sc_core::sc_start(10, sc_core::SC_US); }
  void wait(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }

  double statistic(const std::string& wanted) const {
    double result = -1;
    cache.visit_statistics([&](const std::string& name, auto&, auto&, double value) {
      if (name == wanted) result = value;
    });
    return result;
  }
  void flush() { registers.set("command", 1); }
  bool busy() { return registers["status"] != 0; }

  std::vector<LoggedAccess> log_of(int port) const {
    std::vector<LoggedAccess> result;
    for (const LoggedAccess& access : memory.log)
      if (access.port == port) result.push_back(access);
    return result;
  }
};

}  // namespace t3vp::cache
