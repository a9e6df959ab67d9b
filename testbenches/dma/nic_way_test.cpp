// Commands whose tiles go by a queue pair of the NIC, which the test plays.
#include "dma/dma_bench.h"
#include "registers/nic.h"
#include "registers/nic_opcode.h"
#include "t3/little_endian.h"
#include "t3/nic_segment.h"
#include "t3/nic_tile.h"
#include "t3/nic_work_entry.h"

namespace t3vp::test::nic_way_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

constexpr std::uint64_t send_base = address_map::on_gpu(bench_gpu, 0x4000), record = send_base - 64;
constexpr std::uint32_t queue = 3, pair = 9, local_key = 0x101, remote_key = 0x202;

std::uint64_t nic_address(std::uint64_t offset, std::uint64_t stride) {
  return address_map::on_gpu(bench_gpu, address_map::block_base(address_map::Block::nic)) + offset + stride * pair;
}
std::uint64_t doorbell() { return nic_address(registers::Nic::doorbell_offset, registers::Nic::doorbell_stride); }
std::uint64_t finished() { return nic_address(registers::Nic::finished_offset, registers::Nic::finished_stride); }

struct QueueBench : DmaBench {
  explicit QueueBench(std::uint32_t entries = 16, bool functional = true) : DmaBench(DmaParameters(), functional) {
    nic.reaches = [](std::uint64_t address) {
      const std::uint64_t doorbells = doorbell() - registers::Nic::doorbell_stride * pair;
      return address >= doorbells && address < doorbells + registers::Nic::doorbell_stride * 64;
    };
    link.reaches = [](std::uint64_t) { return false; };
    registers.set("queue_send_base", send_base, queue);
    registers.set("queue_record", record, queue);
    registers.set("queue_pair", pair, queue);
    registers.set("queue_entries", entries, queue);
    registers.set("way", 1 | queue << 8);
    registers.set("local_key", local_key);
    registers.set("remote_key", remote_key);
  }
  /// The entries that have been written to the ring, in the order of writing, with what is behind their heads.
  std::vector<std::vector<unsigned char>> entries_written() const {
    std::vector<std::vector<unsigned char>> found;
    for (const DataTarget::Arrival& write : memory.arrivals())
      if (write.data.size() == 64) found.push_back(write.data);
    return found;
  }
  std::vector<std::uint32_t> doorbells() const {
    std::vector<std::uint32_t> found;
    for (const DataTarget::Arrival& arrival : nic.arrivals())
      if (arrival.extension.operation == Operation::store) {
        REQUIRE(arrival.address == doorbell());
        REQUIRE(arrival.data.size() == 4);
        found.push_back(static_cast<std::uint32_t>(t3_number_at(arrival.data.data(), 4)));
      }
    return found;
  }
};

}  // namespace

TEST_CASE("a trigger posts an accumulate of the tile to the queue pair, and reads and sends nothing itself") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 12) == Status::ok);
  std::uint32_t posted = 0;
  for (std::uint32_t wg = 0; wg < 12; ++wg)
    for (std::uint32_t wf = 0; wf < 4; ++wf) {
      const Rectangle part = grid.wavefront_tile(wg, wf);
      if (part.empty()) continue;
      REQUIRE(bench.trigger(grid, wg, wf) == tlm::TLM_OK_RESPONSE);
      bench.settle();
      const auto& writes = bench.memory.arrivals();
      const DataTarget::Arrival &entry = writes[writes.size() - 2], &count = writes.back();
      REQUIRE(entry.address == send_base + posted % 16 * 64);
      REQUIRE(entry.extension.traffic == TrafficClass::control);
      REQUIRE(count.address == record);
      REQUIRE(t3_number_at(count.data.data(), 4) == posted + 1);
      const t3_nic_work_entry head = t3_nic_work_entry_from(entry.data.data());
      REQUIRE(head.opcode == static_cast<std::uint8_t>(NicOpcode::accumulate));
      REQUIRE(head.flags == 0);
      REQUIRE(head.index == posted);
      REQUIRE(head.queue_pair == pair);
      REQUIRE(head.segments == 1);
      const std::uint64_t offset = part.row * 192ull + part.column * 2ull;
      REQUIRE(head.remote_address == DmaBench::peer_output + offset);
      REQUIRE(head.remote_key == remote_key);
      const t3_nic_segment segment = t3_nic_segment_from(&entry.data[32]);
      REQUIRE(segment.address == DmaBench::output + offset);
      REQUIRE(segment.key == local_key);
      REQUIRE(segment.bytes == part.rows * part.columns * 2);
      const t3_nic_tile tile = t3_nic_tile_from(&entry.data[48]);
      REQUIRE(tile.row_bytes == part.columns * 2);
      REQUIRE(tile.row_stride == 192);
      REQUIRE(tile.workgroup == wg);
      REQUIRE(tile.wavefront == wf);
      REQUIRE(tile.element == static_cast<std::uint8_t>(grid.element));
      ++posted;
      REQUIRE(bench.doorbells().back() == posted);
    }
  REQUIRE(bench.link.arrivals().empty());
  REQUIRE(bench.memory.arrivals().size() == 2 * posted);
  REQUIRE(bench.registers["bytes"] == 100 * 90 * 2);
  REQUIRE(bench.registers["blocks"] == posted);
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.registers.element("queue_posted", queue) == posted);
  REQUIRE(bench.registers.element("queue_ended", queue) == posted);
  REQUIRE(bench.engine.diagnosis().empty());
}

TEST_CASE("entries, records and doorbells are real in a run without data") {
  QueueBench bench(16, false);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.entries_written().size() == 1);
  REQUIRE(t3_nic_work_entry_from(bench.entries_written()[0].data()).remote_key == remote_key);
  REQUIRE(bench.doorbells() == std::vector<std::uint32_t>{1});
}

TEST_CASE("the doorbell rings when memory has the entries and the record, whose tiles come together") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 4) == Status::ok);
  bench.run_for(1'000'000);
  const Picoseconds triggered = now();
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.run_for(bench.parameters.latency + 1);
  for (std::uint32_t wf = 0; wf < 3; ++wf) bench.trigger(grid, 1, wf);
  bench.settle();
  const Picoseconds round = bench.parameters.latency + bench.memory.latency;
  REQUIRE(bench.memory.arrivals()[0].at == triggered + bench.parameters.latency);
  REQUIRE(bench.nic.arrivals()[0].at == triggered + round);
  // Four come with the first doorbell; those that were triggered meanwhile with the next one.
  REQUIRE(bench.doorbells() == std::vector<std::uint32_t>{4, 7});
  REQUIRE(bench.nic.arrivals()[5].at == triggered + 2 * round);
  REQUIRE(bench.nic.arrivals()[1].extension.operation == Operation::wait);
  REQUIRE(bench.nic.arrivals()[1].address == finished());
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(bench.nic.arrivals()[1 + i].extension.threshold == i + 1);
}

TEST_CASE("the doorbell rings when memory has answered each of the entries and the record, and not before") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.memory.holds = true;
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE(bench.memory.arrivals().size() == 4 + 1);
  for (int answered = 0; answered < 4 + 1; ++answered) {
    REQUIRE(bench.doorbells().empty());
    bench.memory.answer_one();
    bench.settle();
  }
  REQUIRE(bench.doorbells() == std::vector<std::uint32_t>{4});
}

TEST_CASE("a full send queue is never overrun: tiles wait until entries have ended") {
  QueueBench bench(4);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 4) == Status::ok);
  bench.nic.holds = true;
  for (std::uint32_t wg = 0; wg < 2; ++wg)
    for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, wg, wf);
  bench.settle();
  REQUIRE(bench.entries_written().size() == 4);
  REQUIRE(bench.doorbells() == std::vector<std::uint32_t>{4});
  REQUIRE(bench.busy());
  bench.nic.answer_one();  // the doorbell
  bench.nic.answer_one();
  bench.settle();
  REQUIRE(bench.doorbells() == std::vector<std::uint32_t>{4, 5});
  REQUIRE(bench.memory.arrivals().size() == 5 + 2);
  REQUIRE(bench.memory.arrivals()[5].address == send_base);  // the place of the entry that has ended
  REQUIRE(bench.registers.element("queue_ended", queue) == 1);
  bench.nic.holds = false;
  bench.nic.answer_all();
  bench.settle();
  REQUIRE(bench.entries_written().size() == 8);
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers.element("queue_ended", queue) == 8);
}

TEST_CASE("a block's tiles are posted together, in one piece of work") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 4, DmaBench::output, DmaBench::peer_output, 2) == Status::ok);
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.entries_written().empty());
  bench.trigger(grid, 0, 1);
  bench.settle();
  REQUIRE(bench.entries_written().size() == 2);
  REQUIRE(bench.registers["blocks"] == 1);
}

TEST_CASE("a command by a queue is complete when the NIC has told the end of all its entries, and raises the line") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.nic.holds = true;
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  for (int answers = 0; answers < 5; ++answers) {
    REQUIRE(bench.registers["pending"] == 1);
    REQUIRE(bench.registers["interrupt"] == 0);
    bench.nic.answer_one();
    bench.settle();
  }
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.registers["interrupt"] == 1);
  REQUIRE(bench.interrupt.read());
}

TEST_CASE("an entry that fails fails its tile with the reason that the NIC gives, and nothing hangs") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.nic.serve = [](tlm::tlm_generic_payload& request) {
    if (extension_of(request).operation == Operation::store) return tlm::TLM_OK_RESPONSE;
    if (extension_of(request).threshold < 3) return tlm::TLM_OK_RESPONSE;
    extension_of(request).refusal = static_cast<std::uint32_t>(Status::timeout);
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  };
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(static_cast<Status>(bench.registers["status"] >> 16 & 0xFF) == Status::timeout);
  REQUIRE(bench.registers.reported.size() == 2);
  REQUIRE(bench.registers.reported[0].text.find("wavefront 2 of workgroup 0 by queue pair 9 of the NIC") !=
          std::string::npos);
  REQUIRE(bench.registers["bytes"] == 2 * 512);
}

TEST_CASE("an entry that cannot be written and a doorbell that is refused are told") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 2) == Status::ok);
  bench.memory.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_ADDRESS_ERROR_RESPONSE; };
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.registers.reported[0].text.find("the work entry could not be written") != std::string::npos);
  bench.registers.reported.clear();
  bench.memory.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_OK_RESPONSE; };
  bench.nic.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_COMMAND_ERROR_RESPONSE; };
  bench.trigger(grid, 0, 1);
  bench.settle();
  REQUIRE(bench.registers.reported[0].text.find("the NIC has refused the doorbell of a tile") != std::string::npos);
  REQUIRE_FALSE(bench.busy());
}

TEST_CASE("commands by a queue that cannot be are refused by name") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  const auto refused = [&](Status code, const std::string& text, Sent operation = Sent::update,
                           std::uint64_t destination = DmaBench::peer_output) {
    INFO(text);
    bench.registers.reported.clear();
    REQUIRE(bench.map(operation, grid, 0, 1, DmaBench::output, destination) == code);
    REQUIRE(bench.registers.reported.size() == 1);
    INFO(bench.registers.reported[0].text);
    REQUIRE(bench.registers.reported[0].text.find(text) != std::string::npos);
    REQUIRE(bench.registers["used"] == 0);
  };
  refused(Status::invalid_argument, "by queue 3: a store; only updates go by a queue pair", Sent::store);
  refused(Status::no_peer, "is this GPU's own", Sent::update, DmaBench::output);
  refused(Status::unaligned, "must be a multiple of 32", Sent::update, DmaBench::peer_output + 16);
  bench.registers.set("queue_pair", 64, queue);
  refused(Status::invalid_argument, "the NIC has no queue pair 64");
  bench.registers.set("queue_pair", pair, queue);
  bench.registers.set("queue_send_base", send_base + 32, queue);
  refused(Status::invalid_argument, "a send queue of 16 entries");
  bench.registers.set("queue_send_base", send_base, queue);
  bench.registers.set("queue_record", record + 2, queue);
  refused(Status::invalid_argument, "a doorbell record at");
  bench.registers.set("queue_record", record, queue);
  bench.registers.set("way", 1 | 5 << 8);
  refused(Status::invalid_argument, "by queue 5: it has no entries");
  bench.registers.set("way", 1 | queue << 8);
  bench.nic.reaches = [](std::uint64_t) { return false; };
  refused(Status::no_peer, "this system has no NIC");
  bench.registers.reported.clear();
  REQUIRE(bench.map(Sent::notify, grid, 0, 1) == Status::ok);  // sends nothing
}

TEST_CASE("a queue begins anew only while no command sends by it, with a power of two of entries") {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  const auto write = [&](std::uint64_t entries) { return bench.registers.set("queue_entries", entries, queue); };
  REQUIRE(write(12) != tlm::TLM_OK_RESPONSE);
  REQUIRE(write(65536) != tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.registers.element("queue_entries", queue) == 16);
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(write(8) != tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.registers.reported.back().text.find("commands send by queue 3: none expected") != std::string::npos);
  bench.registers.set("command", 2 | 1u << 8);  // remove_all, by force
  REQUIRE(write(8) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.registers.element("queue_posted", queue) == 0);
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.doorbells() == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("a command by a queue takes no further destination") {
  QueueBench bench;
  REQUIRE(bench.map(Sent::update, DmaBench::ragged_grid(), 0, 1) == Status::ok);
  REQUIRE(bench.add_destination(DmaBench::peer_output + 0x10000) == Status::invalid_argument);
  REQUIRE(bench.registers.reported.back().text.find("no further destination expected") != std::string::npos);
}

TEST_CASE("tiles that wait for a place are gone with a command that is removed by force, the others are not awaited") {
  QueueBench bench(2);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.nic.holds = true;
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  bench.registers.set("command", 2 | 1u << 8);
  REQUIRE(bench.busy());  // two entries are with the NIC
  bench.nic.holds = false;
  bench.nic.answer_all();
  bench.settle();
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.entries_written().size() == 2);
  REQUIRE(bench.registers.reported.empty());
}

namespace {

/// Resets while memory, or the NIC, has not answered.
void require_nothing_after_reset(DataTarget DmaBench::*slow) {
  QueueBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  (bench.*slow).holds = true;
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE(bench.busy());
  bench.engine.registers.reset();
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers.element("queue_entries", queue) == 0);
  const std::size_t told = bench.nic.arrivals().size();
  (bench.*slow).holds = false;
  (bench.*slow).answer_all();
  bench.settle();
  REQUIRE(bench.nic.arrivals().size() == told);
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers.reported.empty());
}

}  // namespace

TEST_CASE("a reset forgets queues, and late answers of memory find nobody") {
  require_nothing_after_reset(&DmaBench::memory);
}

TEST_CASE("a reset forgets queues, and late answers of the NIC find nobody") {
  require_nothing_after_reset(&DmaBench::nic);
}

}  // namespace t3vp::test::nic_way_test
