// Commands refuse staged values: the log has the place, the value found and the rule that it broke.
#include "driver_errors/prober.h"

namespace t3vp::test::command_rules_test {

using address_map::Block;
using address_map::on_gpu;

namespace {

/// One command on what is staged: the block's own values first, then the row's.
struct Command {
  std::vector<Staged> changes;
  std::uint32_t command;
  Status code;
  std::uint64_t address;
  std::string text;
};

void require_commands(Block block, const char* name, std::uint64_t command, std::uint64_t status,
                      const std::vector<Staged>& usual, const std::vector<Command>& rows) {
  const Prober prober([&](Prober& p) {
    for (const Command& row : rows) {
      CAPTURE(name, row.text);
      for (const std::vector<Staged>& writes : {usual, row.changes})
        for (const Staged& s : writes) CHECK(p.write(at(block, s.offset), s.bytes, s.value) == Status::ok);
      CHECK(p.write(at(block, command), 4, row.command) == Status::ok);
      std::uint32_t code = 0;
      CHECK(p.processor().read32(at(block, status), code) == Status::ok);
      CHECK((code & 0xFF) == static_cast<std::uint32_t>(row.code));
      if (row.code == Status::ok)
        p.require_nothing_told();
      else
        p.require_told(name, row.code, row.address, row.text);
    }
  });
}

constexpr std::uint64_t output = 0x100000;  // in each memory

/// 256 x 512 fp16 in 4 x 8 tiles; where output map, Tracker and DMA engine have it.
const std::vector<Staged> chunk_words = {{0x00, 8, on_gpu(own, output)},
                                         {0x08, 8, 1024},
                                         {0x10, 4, 256},
                                         {0x14, 4, 512},
                                         {0x18, 4, 64},
                                         {0x1C, 4, 64},
                                         {0x20, 4, 0x004},
                                         {0x24, 4, 0},
                                         {0x28, 4, 8}};

/// The rows of a chunk that all three commands refuse.
std::vector<Command> chunk_rows(std::uint32_t command) {
  const std::uint64_t here = on_gpu(own, output), edge = on_gpu(own, memory_bytes - 0x1000);
  return {
      {{{0x00, 8, here + 8}},
       command,
       Status::unaligned,
       here + 8,
       "output 0x100000100008 with row stride 1024 must be multiples of 32"},
      {{{0x08, 8, 1040}},
       command,
       Status::unaligned,
       here,
       "output 0x100000100000 with row stride 1040 must be multiples of 32"},
      {{{0x10, 4, 0}}, command, Status::invalid_argument, here, "output 0 x 512 in tiles of 64 x 64: none may be 0"},
      {{{0x1C, 4, 0}}, command, Status::invalid_argument, here, "output 256 x 512 in tiles of 64 x 0: none may be 0"},
      {{{0x20, 4, 3}},
       command,
       Status::invalid_argument,
       here,
       "3 wavefronts: 1 to 8 expected that divide the tile's 64 rows"},
      {{{0x08, 8, 512}}, command, Status::invalid_argument, here, "row stride 512 is less than a row of 1024 bytes"},
      {{{0x08, 8, std::uint64_t{1} << 58}},
       command,
       Status::bad_address,
       here,
       "output 0x100000100000 of 256 rows 288230376151711744 bytes apart: more than there can be in a memory"},
      {{{0x00, 8, output}},
       command,
       Status::bad_address,
       output,
       "output 0x100000 is GPU 0's: one of GPU 1 expected; with the GPU's number, 0x100000100000 expected"},
      {{{0x00, 8, edge}},
       command,
       Status::bad_address,
       edge,
       "output 0x10003ffff000 of 0x40000 bytes does not end in the memory of GPU 1"},
      {{{0x28, 4, 0xFFFFFFFF}},
       command,
       Status::invalid_argument,
       here,
       "4294967295 workgroups in a map: up to 1048576 expected"},
      {{{0x28, 4, 0}},
       command,
       Status::invalid_argument,
       here,
       "0 workgroups from 0: 1 or more of the output's 32 expected"},
      {{{0x24, 4, 30}},
       command,
       Status::invalid_argument,
       here,
       "8 workgroups from 30: 1 or more of the output's 32 expected"},
  };
}

}  // namespace

TEST_CASE("commands that the Tracker refuses are told with the rule") {
  constexpr std::uint32_t add_updates = 1 | 2 << 4, remove = 3;
  const std::uint64_t here = on_gpu(own, output), table = on_gpu(own, 0x200000);
  std::vector<Staged> usual = chunk_words;
  usual.insert(usual.end(), {{0x2C, 4, 2}});
  std::vector<Command> rows = chunk_rows(add_updates);
  rows.insert(
      rows.end(),
      {{{}, 1, Status::invalid_argument, here, "operation none: store or update expected"},
       {{{0x2C, 4, 0}}, add_updates, Status::invalid_argument, here, "0 updates of each element: 1 to 255 expected"},
       {{{0x2C, 4, 256}},
        add_updates,
        Status::invalid_argument,
        here,
        "256 updates of each element: 1 to 255 expected"},
       {{}, remove, Status::invalid_argument, here, "workgroups 0 to 7 of the output at 0x100000100000 are not mapped"},
       {{{0x58, 8, table + 8}, {0x60, 4, 64}},
        add_updates,
        Status::unaligned,
        table + 8,
        "the spill table at 0x100000200008: a multiple of 32 expected"},
       {{{0x58, 8, on_gpu(own, memory_bytes - 32)}, {0x60, 4, 64}},
        add_updates,
        Status::bad_address,
        on_gpu(own, memory_bytes - 32),
        "the spill table of 64 entries at 0x10003fffffe0 does not end in the memory of GPU 1"},
       {{{0x28, 4, 0}},
        remove,
        Status::invalid_argument,
        here,
        "0 workgroups (1 or more expected) of the output at 0x100000100000 are not mapped"},
       {{{0x58, 8, 0}, {0x60, 4, 0}, {0x28, 4, 17}},
        add_updates,
        Status::capacity,
        here,
        "17 workgroups of 4 wavefronts need 8 ways with what is mapped, the Tracker has 4 and its table in memory, for "
        "what spills, 0 of the 68 entries"},
       {{}, add_updates, Status::ok, 0, "the chunk after all"},
       {{{0x24, 4, 4}},
        add_updates,
        Status::overlap,
        here,
        "workgroups 4 to 11 of the output at 0x100000100000 overlap the mapped workgroups 0 to 7 of the output at "
        "0x100000100000: both have workgroup 4, and both outputs, from the first row to the last, have "
        "0x100000100000"}});
  require_commands(Block::tracker, "tracker", 0x30, 0x34, usual, rows);
}

TEST_CASE("commands that the DMA engine refuses are told with the rule") {
  constexpr std::uint32_t add_updates = 1 | 2 << 4, add_notify = 1 | 3 << 4, fill = 3, remove = 4;
  const std::uint64_t here = on_gpu(own, output), there = on_gpu(0, output);
  std::vector<Staged> usual = chunk_words;
  usual.insert(usual.end(), {{0x2C, 4, 1}, {0x30, 8, there}, {0x50, 8, here}, {0x58, 8, 64}});
  std::vector<Command> rows = chunk_rows(add_updates);
  rows.insert(
      rows.end(),
      {{{}, 1, Status::invalid_argument, here, "operation none: store, update or notify expected"},
       {{{0x2C, 4, 3}},
        add_notify,
        Status::invalid_argument,
        here,
        "3 wavefront tiles per block: a divisor of the 4 wavefronts expected"},
       {{{0x30, 8, there + 8}},
        add_updates,
        Status::unaligned,
        there + 8,
        "destination 0x100008 must be a multiple of 32"},
       {{{0x30, 8, here}},
        add_updates,
        Status::no_peer,
        here,
        "destination 0x100000100000 is this GPU's own: one of another GPU expected"},
       {{{0x30, 8, on_gpu(7, output)}},
        add_updates,
        Status::no_peer,
        on_gpu(7, output),
        "GPU 7 of destination 0x700000100000 cannot be reached"},
       {{{0x30, 8, on_gpu(address_map::all_gpus, output)}},
        add_updates,
        Status::no_peer,
        on_gpu(address_map::all_gpus, output),
        "destination 0xffffe00000100000 is all GPUs': one of another GPU expected"},
       {{{0x30, 8, on_gpu(0, memory_bytes - 32)}},
        add_updates,
        Status::bad_address,
        on_gpu(0, memory_bytes - 32),
        "destination 0x3fffffe0 of 0x40000 bytes does not end in the memory of GPU 0"},
       {{}, remove, Status::invalid_argument, here, "workgroups 0 to 7 of the output at 0x100000100000 are not mapped"},
       {{{0x50, 8, here + 4}},
        fill,
        Status::unaligned,
        here + 4,
        "fill of 64 bytes at 0x100000100004: multiples of 32 expected"},
       {{{0x58, 8, 40}}, fill, Status::unaligned, here, "fill of 40 bytes at 0x100000100000: multiples of 32 expected"},
       {{{0x58, 8, 0}}, fill, Status::invalid_argument, here, "fill of 0 bytes at 0x100000100000: 32 or more expected"},
       {{{0x50, 8, there}},
        fill,
        Status::bad_address,
        there,
        "fill of 0x40 bytes at 0x100000 is not all in the memory of GPU 1; with the GPU's number, 0x100000100000 "
        "expected"},
       {{{0x58, 8, ~std::uint64_t{31}}},
        fill,
        Status::bad_address,
        here,
        "fill of 0xffffffffffffffe0 bytes at 0x100000100000 is not all in the memory of GPU 1"},
       {{}, fill, Status::ok, 0, "the fill after all"},
       {{}, add_updates, Status::ok, 0, "the chunk after all"},
       {{{0x24, 4, 4}},
        add_updates,
        Status::overlap,
        here,
        "workgroups 4 to 11 of the output at 0x100000100000 overlap the mapped workgroups 0 to 7 of the output at "
        "0x100000100000: both have workgroup 4, and both outputs, from the first row to the last, have "
        "0x100000100000"}});
  require_commands(Block::dma, "dma", 0x38, 0x3C, usual, rows);
}

TEST_CASE("commands that the output map refuses are told with the rule") {
  constexpr std::uint32_t add = 1, remove = 3;
  const std::uint64_t here = on_gpu(own, output), there = on_gpu(0, output);
  std::vector<Staged> usual = chunk_words;
  usual.insert(usual.end(), {{0x2C, 4, 2}, {0x30, 8, there}});
  std::vector<Command> rows = chunk_rows(add);
  rows.insert(
      rows.end(),
      {{{{0x2C, 4, 0}}, add, Status::invalid_argument, here, "operation none: store or update expected"},
       {{{0x30, 8, there + 16}}, add, Status::unaligned, there + 16, "peer 0x100010 must be a multiple of 32"},
       {{{0x30, 8, here}},
        add,
        Status::no_peer,
        here,
        "peer 0x100000100000 is this GPU's own: one of another GPU expected"},
       {{{0x30, 8, on_gpu(7, output)}},
        add,
        Status::no_peer,
        on_gpu(7, output),
        "GPU 7 of peer address 0x700000100000 cannot be reached"},
       {{{0x30, 8, on_gpu(address_map::all_gpus, output)}},
        add,
        Status::no_peer,
        on_gpu(address_map::all_gpus, output),
        "peer 0xffffe00000100000 is all GPUs': one of another GPU expected"},
       {{{0x30, 8, on_gpu(0, memory_bytes - 32)}},
        add,
        Status::bad_address,
        on_gpu(0, memory_bytes - 32),
        "peer 0x3fffffe0 of 0x40000 bytes does not end in the memory of GPU 0"},
       {{}, remove, Status::invalid_argument, here, "workgroups 0 to 7 of the output at 0x100000100000 are not mapped"},
       {{}, add, Status::ok, 0, "the chunk after all"},
       {{{0x24, 4, 4}},
        add,
        Status::overlap,
        here,
        "workgroups 4 to 11 of the output at 0x100000100000 overlap the mapped workgroups 0 to 7 of the output at "
        "0x100000100000: both have workgroup 4, and both outputs, from the first row to the last, have "
        "0x100000100000"}});
  require_commands(Block::output_map, "output_map", 0x38, 0x3C, usual, rows);
}

TEST_CASE("a fill that is refused while another one runs tells how much of that is left") {
  const Prober prober([](Prober& p) {
    REQUIRE(p.write(at(Block::dma, 0x50), 8, on_gpu(own, output)) == Status::ok);
    REQUIRE(p.write(at(Block::dma, 0x58), 8, 0x1000000) == Status::ok);
    REQUIRE(p.write(at(Block::dma, 0x38), 4, 3) == Status::ok);
    REQUIRE(p.write(at(Block::dma, 0x38), 4, 3) == Status::ok);
    const processor::ErrorLog::Entry entry = p.told();
    CHECK(entry.record.address == on_gpu(own, output));
    CHECK_THAT(entry.record.text, Catch::StartsWith("a fill runs, 0x") &&
                                      Catch::Contains("bytes are left from 0x1000") &&
                                      Catch::EndsWith("on: none before it has ended"));
  });
}

TEST_CASE("registers of the Tracker that are locked say why") {
  const Prober prober([](Prober& p) {
    for (const Staged& s : chunk_words) REQUIRE(p.write(at(Block::tracker, s.offset), s.bytes, s.value) == Status::ok);
    REQUIRE(p.write(at(Block::tracker, 0x2C), 4, 2) == Status::ok);
    REQUIRE(p.write(at(Block::tracker, 0x30), 4, 1 | 2 << 4) == Status::ok);
    REQUIRE(p.write(at(Block::tracker, 0x58), 8, 0x40) == Status::access_denied);
    p.require_told("tracker", Status::access_denied, at(Block::tracker, 0x58),
                   "tracker.spill_base: 0x40 written while chunks are mapped: locked until that has ended");
    REQUIRE(p.write(at(Block::tracker, 0x60), 4, 1) == Status::access_denied);
    p.require_told("tracker", Status::access_denied, at(Block::tracker, 0x60),
                   "tracker.spill_entries: 0x1 written while chunks are mapped: locked until that has ended");
  });
}

}  // namespace t3vp::test::command_rules_test
