// A DMA engine of GPU 2 between a memory, a link and a Tracker that the test plays.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/memory_user.h"
#include "data_path/named_registers.h"
#include "data_path/target.h"
#include "dma/dma_engine.h"

namespace t3vp::dma {

/// The counters that completed chunks have added to, in their order.
struct CountedSignals : sc_core::sc_module, SignalCounters {
  std::vector<std::uint32_t> counted;
  explicit CountedSignals(const sc_core::sc_module_name& name) : sc_module(name) {}
  void count(std::uint32_t counter, OrderPoint) override { counted.push_back(counter); }
};

inline constexpr std::uint16_t bench_gpu = 2, peer_gpu = 1, lost_gpu = 3;

struct DmaBench {
  DmaParameters parameters;
  DmaEngine engine;
  DataInitiator tracker{"tracker"};
  DataTarget memory{"memory"}, link{"link"}, nic{"nic"};
  sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> interrupt{"interrupt"};
  OtherUser user;
  CountedSignals counters{"counters"};
  NamedRegisters registers;
  CheckedSockets checks;

  static constexpr std::uint64_t output = address_map::on_gpu(bench_gpu, 0x20000);
  static constexpr std::uint64_t peer_output = address_map::on_gpu(peer_gpu, 0x90000);

  explicit DmaBench(const DmaParameters& p = {}, bool functional = true)
      : parameters(p), engine("engine", p, functional, bench_gpu, nullptr), registers("registers", engine.registers) {
    checks.join_test(tracker.socket, engine.trigger);
    checks.join(engine.memory, memory.socket);
    checks.join(engine.remote, link.socket);
    checks.join(engine.nic, nic.socket);
    engine.interrupt.bind(interrupt);
    engine.users.bind(user);
    engine.counters.bind(counters);
    memory.latency = 300'000;
    memory.serve = [](tlm::tlm_generic_payload& transaction) { return serve(transaction); };
    link.reaches = [](std::uint64_t address) { return address_map::gpu_of(address) != lost_gpu; };
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// What the memory holds at an address.
  static unsigned char content(std::uint64_t address) {
    return static_cast<unsigned char>(address * 7 + (address >> 8) * 13 + 1);
  }
  static tlm::tlm_response_status serve(tlm::tlm_generic_payload& transaction) {
    const Shape& shape = extension_of(transaction).shape;
    unsigned char* data = transaction.get_data_ptr();
    if (transaction.is_write() || data == nullptr) return tlm::TLM_OK_RESPONSE;
    for (std::uint32_t row = 0; row < shape.rows; ++row)
      for (std::uint32_t column = 0; column < shape.row_bytes; ++column)
        *data++ = content(transaction.get_address() + row * shape.stride + column);
    return tlm::TLM_OK_RESPONSE;
  }

  /// 100 x 90 fp16 in tiles of 32 x 32: 4 x 3 workgroups, clipped at both edges.
  static TileGrid ragged_grid(std::uint32_t wavefronts = 4) {
    TileGrid grid;
    grid.rows = 100;
    grid.columns = 90;
    grid.tile_rows = grid.tile_columns = 32;
    grid.wavefronts = wavefronts;
    grid.row_stride = 192;
    return grid;
  }

  void stage(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint64_t base = output,
             std::uint64_t destination = peer_output, std::uint64_t block_tiles = 1) {
    registers.set("output_base", base);
    registers.set("row_stride", grid.row_stride);
    registers.set("rows", grid.rows);
    registers.set("columns", grid.columns);
    registers.set("tile_rows", grid.tile_rows);
    registers.set("tile_columns", grid.tile_columns);
    registers.set("layout", grid.wavefronts | static_cast<std::uint64_t>(grid.element) << 8);
    registers.set("first_workgroup", first);
    registers.set("workgroups", count);
    registers.set("destination_base", destination);
    registers.set("block_tiles", block_tiles);
  }

  TrafficClass reads = TrafficClass::rs_read, writes = TrafficClass::rs_write;  ///< of what is added and filled

  using Sent = registers::Dma::Command::Operation;
  Status add(Sent operation) {
    registers.set("command", 1 | static_cast<std::uint64_t>(operation) << 4 | classes());
    return registers.command_status();
  }
  Status map(Sent operation, const TileGrid& grid, std::uint32_t first, std::uint32_t count,
             std::uint64_t base = output, std::uint64_t destination = peer_output, std::uint64_t block_tiles = 1) {
    stage(grid, first, count, base, destination, block_tiles);
    return add(operation);
  }
  Status add_destination(std::uint64_t destination) {
    registers.set("destination_base", destination);
    registers.set("command", 5);
    return registers.command_status();
  }
  Status fill(std::uint64_t base, std::uint64_t bytes) {
    registers.set("fill_base", base);
    registers.set("fill_bytes", bytes);
    registers.set("command", 3 | classes());
    return registers.command_status();
  }
  std::uint64_t classes() const { return index_of(reads) << 16 | index_of(writes) << 24; }

  /// The Tracker's message that a tile is complete; its answer.
  tlm::tlm_response_status trigger(const TileGrid& grid, std::uint32_t wg, std::uint32_t wf,
                                   std::uint64_t base = output) {
    return tracker.answer(tracker.send(trigger_of(grid, wg, wf, base))).status;
  }
  static DataAccess trigger_of(const TileGrid& grid, std::uint32_t wg, std::uint32_t wf, std::uint64_t base = output) {
    const Rectangle tile = grid.wavefront_tile(wg, wf);
    DataAccess message;
    message.operation = Operation::store;
    message.address = base + grid.offset(tile);
    message.shape = grid.shape(tile);
    message.element = grid.element;
    message.producer = {wg, static_cast<std::uint8_t>(wf), bench_gpu};
    return message;
  }

  bool busy() { return (registers["status"] >> 8 & 1) != 0; }
  static void settle() { sc_core::sc_start(); }
  static void run_for(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }
};

}  // namespace t3vp::dma
