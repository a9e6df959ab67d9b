// A Tracker of GPU 0 by itself, with listeners in the places of the DMA engine and of the memory controller.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "data_path/checked_sockets.h"
#include "data_path/named_registers.h"
#include "data_path/target.h"
#include "memory/tracker.h"

namespace t3vp::memory {

struct TrackerBench {
  Tracker tracker;
  DataTarget triggers{"triggers"}, spills{"spills"};
  sc_core::sc_signal<OutputRange> running_output{"running_output"};
  sc_core::sc_signal<bool> interrupt{"interrupt"};
  std::map<std::uint64_t, std::vector<unsigned char>> memory;  ///< of the spilled entries
  NamedRegisters registers;
  CheckedSockets checks;

  explicit TrackerBench(const TrackerParameters& parameters = {})
      : tracker("tracker", parameters, 0, nullptr), registers("registers", tracker.registers) {
    checks.join(tracker.trigger, triggers.socket);
    checks.join(tracker.spill, spills.socket);
    spills.serve = [this](tlm::tlm_generic_payload& access) {
      std::vector<unsigned char>& slot = memory[access.get_address()];
      slot.resize(access.get_data_length());
      if (access.is_write())
        std::copy_n(access.get_data_ptr(), slot.size(), slot.begin());
      else
        std::copy(slot.begin(), slot.end(), access.get_data_ptr());
      return tlm::TLM_OK_RESPONSE;
    };
    tracker.running_output.bind(running_output);
    tracker.interrupt.bind(interrupt);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  static constexpr std::uint64_t base = 0x10000;

  /// 100 x 90 fp16 in tiles of 32 x 32: tiles are clipped at both edges.
  static TileGrid ragged_grid() {
    TileGrid grid;
    grid.rows = 100;
    grid.columns = 90;
    grid.tile_rows = grid.tile_columns = 32;
    grid.wavefronts = 4;
    grid.row_stride = 192;
    return grid;
  }

  Status map(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint64_t updates,
             Operation operation = Operation::update, std::uint64_t output = base) {
    stage(grid, first, count, updates, output);
    return add(operation);
  }

  void stage(const TileGrid& grid, std::uint32_t first, std::uint32_t count, std::uint64_t updates,
             std::uint64_t output = base) {
    registers.set("output_base", output);
    registers.set("row_stride", grid.row_stride);
    registers.set("rows", grid.rows);
    registers.set("columns", grid.columns);
    registers.set("tile_rows", grid.tile_rows);
    registers.set("tile_columns", grid.tile_columns);
    registers.set("layout", grid.wavefronts | static_cast<std::uint64_t>(grid.element) << 8);
    registers.set("first_workgroup", first);
    registers.set("workgroups", count);
    registers.set("updates", updates);
  }

  Status add(Operation operation) {
    registers.set("command", 1 | (operation == Operation::store ? 1u : 2u) << 4);
    return registers.command_status();
  }

  Status remove(const TileGrid& grid, std::uint32_t first, std::uint32_t count, bool force = false) {
    stage(grid, first, count, 1);
    registers.set("command", 3u | (force ? 1u : 0u) << 8);
    return registers.command_status();
  }

  /// One access of `rows` rows of a wavefront tile from its row `from` on.
  void count(const TileGrid& grid, std::uint32_t wg, std::uint32_t wf, std::uint32_t from, std::uint32_t rows,
             bool local = true, std::uint64_t output = base, Operation operation = Operation::update) {
    Rectangle part = grid.wavefront_tile(wg, wf);
    part.row += from;
    part.rows = rows;
    count(access(grid, wg, wf, part, local, output, operation));
  }
  static Tracker::Access access(const TileGrid& grid, std::uint32_t wg, std::uint32_t wf, const Rectangle& part,
                                bool local = true, std::uint64_t output = base,
                                Operation operation = Operation::update) {
    return {{wg, static_cast<std::uint8_t>(wf), 0},
            output + grid.offset(part),
            grid.shape(part),
            operation,
            grid.element,
            local,
            false};
  }
  /// Accepted, all of it counted at once, and what must come back from memory has come back.
  void count(const Tracker::Access& access) {
    if (const Tracker::Counted counted = tracker.accept(access); counted.any())
      tracker.count(counted, access.shape.bytes(), now(), {});
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  }
  void count_tile(const TileGrid& grid, std::uint32_t wg, std::uint32_t wf, bool local = true,
                  std::uint64_t output = base) {
    count(grid, wg, wf, 0, grid.wavefront_tile(wg, wf).rows, local, output);
  }

  /// What has been triggered since the start, in order.
  std::vector<DataTarget::Arrival> triggered() {
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
    return triggers.arrivals();
  }
};

}  // namespace t3vp::memory
