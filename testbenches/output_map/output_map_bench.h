// An output map between compute units, a cache, links and signals that record what reaches them.
#pragma once

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "data_path/checked_sockets.h"
#include "data_path/named_registers.h"
#include "output_map/output_map.h"
#include "protocol/address_map.h"
#include "protocol/transaction_pool.h"

namespace t3vp::test::output_map_test {

using namespace output_map;

using address_map::on_gpu;

inline constexpr std::uint16_t own = 1, peer = 2, beyond = 9;
inline constexpr std::uint32_t table_entries = 4;
inline constexpr std::uint64_t output = on_gpu(own, 0x10000), peer_output = on_gpu(peer, 0x80000);
inline constexpr std::uint64_t row_stride = 0x400, output_bytes = 16 * row_stride;

/// A row of a workgroup's tile, 32 bytes: 16 x 512 fp16 in tiles of 16 x 16.
constexpr std::uint64_t in_tile(std::uint32_t wg_id, std::uint32_t row = 0) { return 32 * wg_id + row * row_stride; }
constexpr std::uint64_t tile(std::uint32_t wg_id, std::uint32_t row = 0) { return output + in_tile(wg_id, row); }
constexpr std::uint64_t peer_tile(std::uint32_t wg_id, std::uint32_t row = 0) {
  return peer_output + in_tile(wg_id, row);
}

using Registers = registers::OutputMap;
using Kind = Registers::Operation::Kind;
using Action = Registers::Command::Action;

/// Records what arrives.
struct Sink : sc_core::sc_module {
  DataTargetSocket<Sink> socket{"socket", this, &Sink::request};
  std::vector<tlm::tlm_generic_payload*> received;
  std::vector<std::uint64_t> addresses;  ///< of those; transactions are used again
  Picoseconds delay = 0;
  unsigned debug_accesses = 0;
  bool reaches_everything = false;
  std::uint64_t capacity = address_map::hbm_limit;         ///< of each memory that it reaches
  bool at_once = false;                                    ///< responds within the request call
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;  ///< of its answers

  explicit Sink(const sc_core::sc_module_name& name) : sc_module(name) { socket.on_debug(&Sink::debug); }
  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds time) {
    received.push_back(&transaction);
    addresses.push_back(transaction.get_address());
    delay = time;
    if (at_once)
      respond(transaction, time);
    else
      transaction.acquire();
  }
  void respond(tlm::tlm_generic_payload& transaction, Picoseconds time) {
    transaction.set_response_status(status);
    socket.respond(transaction, time);
  }
  unsigned debug(int, tlm::tlm_generic_payload& transaction) {
    ++debug_accesses;
    const std::uint64_t address = transaction.get_address();
    const bool reached = (reaches_everything || address_map::gpu_of(address) == peer) &&
                         (transaction.get_data_length() == 0 || address_map::local_of(address) < capacity);
    transaction.set_response_status(reached ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return reached ? transaction.get_data_length() : 0;
  }
};

struct ComputeUnits : sc_core::sc_module {
  DataInitiatorSocket<ComputeUnits> socket{"socket", this, &ComputeUnits::response};
  std::vector<tlm::tlm_generic_payload*> taken, answered;

  explicit ComputeUnits(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.on_taken(&ComputeUnits::notice);
  }
  void notice(int, tlm::tlm_generic_payload& transaction, Picoseconds) { taken.push_back(&transaction); }
  void response(int, tlm::tlm_generic_payload& transaction, Picoseconds) { answered.push_back(&transaction); }
};

struct Mapping {
  std::uint64_t base = output, to = peer_output, stride = row_stride;
  std::uint32_t rows = 16, columns = 512, tile_rows = 16, tile_columns = 16, wavefronts = 1;
  ElementType element = ElementType::fp16;
  std::uint32_t first = 4, count = 4;
  Kind kind = Kind::update;
  TrafficClass traffic = TrafficClass::rs_write;
};

struct Bench {
  OutputMap map{"map", OutputMapParameters{table_entries, 64}, own};
  ComputeUnits compute{"compute"};
  Sink cache{"cache"}, remote{"remote"}, signals{"signals"}, nic{"nic"};
  NamedRegisters registers{map.registers};
  sc_core::sc_signal<OutputRange> running_output{"running_output"};
  TransactionPool pool;
  CheckedSockets checks;

  Bench() {
    checks.join_test(compute.socket, map.compute);
    checks.join(map.cache, cache.socket);
    checks.join(map.remote, remote.socket);
    checks.join(map.signals, signals.socket);
    checks.join(map.nic, nic.socket);
    cache.reaches_everything = true;
    map.running_output.bind(running_output);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  Status add(const Mapping& m) {
    registers.set("output_base", m.base);
    registers.set("row_stride", m.stride);
    registers.set("rows", m.rows);
    registers.set("columns", m.columns);
    registers.set("tile_rows", m.tile_rows);
    registers.set("tile_columns", m.tile_columns);
    registers.set("layout", m.wavefronts | static_cast<std::uint64_t>(m.element) << 8);
    registers.set("peer_base", m.to);
    registers.set("first_workgroup", m.first);
    registers.set("workgroups", m.count);
    registers.set("operation", static_cast<std::uint64_t>(m.kind) | index_of(m.traffic) << 8);
    return command(Action::add);
  }
  Status remove(const Mapping& m, bool force = false) {
    registers.set("output_base", m.base);
    registers.set("first_workgroup", m.first);
    registers.set("workgroups", m.count);
    return command(Action::remove, force);
  }
  Status command(Action action, bool force = false) {
    const std::uint64_t value = static_cast<std::uint64_t>(action) | (force ? 1u : 0u) << 8;
    REQUIRE(registers.set("command", value) == tlm::TLM_OK_RESPONSE);
    return static_cast<Status>(registers["status"] & 0xFF);
  }
  std::uint64_t used() { return registers["used"]; }
  void kernel_writes(std::uint64_t begin, std::uint64_t end) {
    running_output.write({begin, end});
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  }

  Transaction& send(Operation operation, std::uint64_t address, std::uint32_t wg_id = no_workgroup,
                    unsigned char first_byte = 0) {
    Transaction& transaction = pool.make(operation, address, {1, 32, 0});
    if (wg_id != no_workgroup) transaction.extension().producer = {wg_id, 0, own};
    transaction.attach_buffer();
    transaction.get_data_ptr()[0] = first_byte;
    compute.socket.send(transaction, 777);
    return transaction;
  }
  /// The address and operation with which a store of the compute units leaves.
  std::pair<std::uint64_t, Operation> sent(Operation operation, std::uint64_t address, std::uint32_t wg_id) {
    Transaction& transaction = send(operation, address, wg_id);
    return {transaction.get_address(), transaction.extension().operation};
  }
};

}  // namespace t3vp::test::output_map_test
