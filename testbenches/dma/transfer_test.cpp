#include <map>
#include <set>

#include "dma/dma_bench.h"

namespace t3vp::test::transfer_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

using Tile = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Tile> tiles_of(const TileGrid& grid, std::uint32_t first, std::uint32_t count) {
  std::vector<Tile> tiles;
  for (std::uint32_t wg = first; wg < first + count; ++wg)
    for (std::uint32_t wf = 0; wf < grid.wavefronts; ++wf)
      if (!grid.wavefront_tile(wg, wf).empty()) tiles.emplace_back(wg, wf);
  return tiles;
}

/// The bytes that a packet puts in the peer's memory.
std::map<std::uint64_t, unsigned char> bytes_of_packet(const DataTarget::Arrival& packet) {
  std::map<std::uint64_t, unsigned char> bytes;
  const Shape& shape = packet.extension.shape;
  for (std::uint32_t row = 0, i = 0; row < shape.rows; ++row)
    for (std::uint32_t column = 0; column < shape.row_bytes; ++column)
      bytes[packet.address + row * shape.stride + column] = packet.data.at(i++);
  return bytes;
}

/// The same from the output's rows and columns alone.
std::map<std::uint64_t, unsigned char> bytes_of_tile(const TileGrid& grid, const Tile& tile, std::uint64_t from,
                                                     std::uint64_t to) {
  std::map<std::uint64_t, unsigned char> bytes;
  const std::uint32_t tile_row = tile.first / 3 * 32 + tile.second * (32 / grid.wavefronts);
  const std::uint32_t tile_column = tile.first % 3 * 32;
  for (std::uint32_t row = tile_row; row < tile_row + 32 / grid.wavefronts && row < 100; ++row)
    for (std::uint32_t column = tile_column; column < tile_column + 32 && column < 90; ++column)
      for (std::uint64_t byte = 0; byte < 2; ++byte) {
        const std::uint64_t offset = row * 192ull + column * 2ull + byte;
        bytes[to + offset] = DmaBench::content(from + offset);
      }
  return bytes;
}

}  // namespace

TEST_CASE("a trigger reads the tile as communication and sends it with the same ids to the same place at the peer") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 12) == Status::ok);
  const auto tiles = tiles_of(grid, 0, 12);
  for (const Tile& tile : tiles) {
    REQUIRE(bench.trigger(grid, tile.first, tile.second) == tlm::TLM_OK_RESPONSE);
    bench.settle();
    const DataTarget::Arrival &read = bench.memory.arrivals().back(), &sent = bench.link.arrivals().back();
    REQUIRE(read.extension.operation == Operation::load);
    REQUIRE(read.extension.stream == Stream::communication);
    REQUIRE(read.extension.traffic == TrafficClass::rs_read);
    REQUIRE(sent.extension.operation == Operation::update);
    REQUIRE(sent.extension.stream == Stream::communication);
    REQUIRE(sent.extension.traffic == TrafficClass::rs_write);
    REQUIRE(sent.extension.element == grid.element);
    REQUIRE(sent.extension.producer.wg_id == tile.first);
    REQUIRE(sent.extension.producer.wf_id == tile.second);
    REQUIRE(bytes_of_packet(sent) == bytes_of_tile(grid, tile, DmaBench::output, DmaBench::peer_output));
  }
  REQUIRE(bench.memory.arrivals().size() == tiles.size());
  REQUIRE(bench.link.arrivals().size() == tiles.size());
  REQUIRE(bench.registers["bytes"] == 100 * 90 * 2);
  REQUIRE(bench.registers["blocks"] == tiles.size());
  REQUIRE(bench.engine.diagnosis().empty());
}

TEST_CASE("a command's reads and what it sends are of the classes that it was added with") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  for (const TrafficClass reads : traffic_class_values)
    for (const TrafficClass writes : traffic_class_values) {
      bench.reads = reads;
      bench.writes = writes;
      REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
      bench.reads = bench.writes = TrafficClass::setup;  // of the next command, not of the one that is in the table
      bench.trigger(grid, 0, 0);
      bench.settle();
      REQUIRE(bench.memory.arrivals().back().extension.traffic == reads);
      REQUIRE(bench.link.arrivals().back().extension.traffic == writes);
      bench.registers.set("command", 2 | 1u << 8);  // remove_all, by force
    }
}

TEST_CASE("a mapped store sends stores") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::store, grid, 0, 1) == Status::ok);
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 1);
  REQUIRE(bench.link.arrivals()[0].extension.operation == Operation::store);
}

TEST_CASE("a timing-only engine sends the same shapes without data") {
  DmaBench bench({}, false);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 1);
  REQUIRE(bench.link.arrivals()[0].data.empty());
  REQUIRE(bench.link.arrivals()[0].extension.shape.bytes() == 8 * 32 * 2);
}

TEST_CASE("the read leaves the engine one engine latency after the trigger, the update with the read's data") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.run_for(1'000'000);
  const Picoseconds triggered = now();
  bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.memory.arrivals()[0].at == triggered + bench.parameters.latency);
  REQUIRE(bench.link.arrivals()[0].at == triggered + bench.parameters.latency + bench.memory.latency);
}

TEST_CASE("a block waits for all its tiles, whatever their order, and leaves out those the edge has cut off") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 12, DmaBench::output, DmaBench::peer_output, 2) == Status::ok);
  bench.trigger(grid, 5, 3);
  bench.trigger(grid, 5, 0);
  bench.trigger(grid, 4, 2);
  bench.settle();
  REQUIRE(bench.memory.arrivals().empty());
  REQUIRE(bench.registers["blocks"] == 0);
  bench.memory.holds = true;
  bench.trigger(grid, 5, 2);
  bench.settle();
  REQUIRE(bench.memory.arrivals().size() == 2);
  REQUIRE(bench.registers["blocks"] == 0);  // nothing is sent yet
  bench.memory.holds = false;
  bench.memory.answer_all();
  bench.settle();
  REQUIRE(bench.registers["blocks"] == 1);
  REQUIRE(bench.link.arrivals().size() == 2);
  std::set<std::uint8_t> wavefronts;
  for (const DataTarget::Arrival& packet : bench.link.arrivals()) {
    REQUIRE(packet.extension.producer.wg_id == 5);
    wavefronts.insert(packet.extension.producer.wf_id);
  }
  REQUIRE(wavefronts == std::set<std::uint8_t>{2, 3});

  bench.trigger(grid, 11, 0);  // 4 of 32 rows are left: the only tile of its block
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 3);
  REQUIRE(bytes_of_packet(bench.link.arrivals()[2]) ==
          bytes_of_tile(grid, {11, 0}, DmaBench::output, DmaBench::peer_output));
}

TEST_CASE("two outputs with the same workgroups go each to its own place") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  const std::uint64_t other = DmaBench::output + 0x40000, other_peer = address_map::on_gpu(0, 0x1000);
  REQUIRE(bench.map(Sent::update, grid, 0, 12) == Status::ok);
  REQUIRE(bench.map(Sent::store, grid, 0, 12, other, other_peer) == Status::ok);
  bench.trigger(grid, 7, 1, other);
  bench.trigger(grid, 7, 1);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 2);
  REQUIRE(bytes_of_packet(bench.link.arrivals()[0]) == bytes_of_tile(grid, {7, 1}, other, other_peer));
  REQUIRE(bench.link.arrivals()[0].extension.operation == Operation::store);
  REQUIRE(bytes_of_packet(bench.link.arrivals()[1]) ==
          bytes_of_tile(grid, {7, 1}, DmaBench::output, DmaBench::peer_output));
  REQUIRE(bench.registers["pending"] == 2);
}

TEST_CASE("no more bytes are in flight than the engine can buffer") {
  DmaParameters parameters;
  parameters.bytes_in_flight = 1300;  // two whole wavefront tiles of 512 bytes
  DmaBench bench(parameters);
  bench.link.holds = true;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 12) == Status::ok);
  const auto tiles = tiles_of(grid, 0, 12);
  for (const Tile& tile : tiles) bench.trigger(grid, tile.first, tile.second);
  for (std::size_t answered = 0; answered < tiles.size(); ++answered) {
    bench.settle();
    std::uint64_t read = 0, taken = 0;
    for (const DataTarget::Arrival& arrival : bench.memory.arrivals()) read += arrival.extension.shape.bytes();
    for (std::size_t i = 0; i < answered; ++i) taken += bench.link.arrivals()[i].extension.shape.bytes();
    REQUIRE(read - taken <= parameters.bytes_in_flight);
    REQUIRE((read == 100 * 90 * 2 || read - taken + 512 > parameters.bytes_in_flight));
    REQUIRE(bench.busy());
    bench.link.answer_one();
  }
  bench.settle();
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers["bytes"] == 100 * 90 * 2);
}

TEST_CASE("what the link has taken makes room in the engine before its peer acknowledges it") {
  DmaParameters parameters;
  parameters.bytes_in_flight = 1300;  // two whole wavefront tiles of 512 bytes
  DmaBench bench(parameters);
  bench.link.holds = true;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 2);
  bench.link.take_all();
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 4);
  REQUIRE(bench.registers["bytes"] == 0);
  bench.link.answer_all();
  bench.settle();
  REQUIRE(bench.registers["bytes"] == 4 * 512);
  REQUIRE_FALSE(bench.busy());
}

TEST_CASE("a tile that its peer refuses is reported with the peer's address and reason") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.link.holds = true;
  bench.link.serve = [](tlm::tlm_generic_payload& transaction) {
    return extension_of(transaction).producer.wf_id < 2 ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                                        : tlm::TLM_ADDRESS_ERROR_RESPONSE;
  };
  for (std::uint32_t wf = 1; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  bench.link.take_all();
  bench.link.answer_all();
  bench.settle();
  REQUIRE(bench.registers.reported.size() == 3);
  const ErrorRecord& first = bench.registers.reported[0];
  REQUIRE(static_cast<Status>(first.code) == Status::disabled);
  REQUIRE(first.address == DmaBench::peer_output + grid.offset(grid.wavefront_tile(0, 1)));
  CHECK_THAT(first.text, Catch::Contains("refused by GPU 1: the unit that should do this is switched off"));
  REQUIRE(static_cast<Status>(bench.registers["status"] >> 16 & 0xFF) == Status::disabled);
}

TEST_CASE("a tile larger than the buffer still goes, alone") {
  DmaParameters parameters;
  parameters.bytes_in_flight = 100;
  DmaBench bench(parameters);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 4);
  REQUIRE(bench.memory.most_bytes_held() == 512);
}

TEST_CASE("a tile that cannot be read or sent is reported and does not stop the others") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.memory.serve = [](tlm::tlm_generic_payload& transaction) {
    if (extension_of(transaction).producer.wf_id == 1) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    return DmaBench::serve(transaction);
  };
  bench.link.serve = [](tlm::tlm_generic_payload& transaction) {
    return extension_of(transaction).producer.wf_id == 2 ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 3);
  REQUIRE(bench.registers.reported.size() == 2);
  REQUIRE(bench.registers["bytes"] == 2 * 512);
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers["pending"] == 0);
  const auto transfer = [&] { return static_cast<Status>(bench.registers["status"] >> 16 & 0xFF); };
  REQUIRE(transfer() == Status::bad_address);  // of the first one
  bench.registers.set("command", 2);           // remove_all
  REQUIRE(transfer() == Status::ok);
}

namespace {

constexpr std::uint64_t second_peer = address_map::on_gpu(0, 0x40000);

}  // namespace

TEST_CASE("a tile is read once and sent to every destination of its command") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::store, grid, 0, 12) == Status::ok);
  REQUIRE(bench.add_destination(second_peer) == Status::ok);
  REQUIRE(bench.registers["used"] == 2);
  const auto tiles = tiles_of(grid, 0, 12);
  for (const Tile& tile : tiles) bench.trigger(grid, tile.first, tile.second);
  bench.settle();
  REQUIRE(bench.memory.arrivals().size() == tiles.size());
  REQUIRE(bench.link.arrivals().size() == 2 * tiles.size());
  std::map<std::uint64_t, unsigned char> sent, expected;
  for (const DataTarget::Arrival& packet : bench.link.arrivals()) {
    CHECK(packet.extension.operation == Operation::store);
    sent.merge(bytes_of_packet(packet));
  }
  for (const Tile& tile : tiles)
    for (const std::uint64_t to : {DmaBench::peer_output, second_peer})
      expected.merge(bytes_of_tile(grid, tile, DmaBench::output, to));
  CHECK(sent == expected);
  CHECK(bench.registers["bytes"] == 2 * 100 * 90 * 2);
  CHECK(bench.registers["blocks"] == 2 * tiles.size());
  CHECK(bench.registers["pending"] == 0);
  CHECK_FALSE(bench.busy());
}

TEST_CASE("a command is complete and its tiles' room is free when the last destination has what it is sent") {
  DmaParameters parameters;
  parameters.bytes_in_flight = 512;  // one tile
  DmaBench bench(parameters);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::store, grid, 0, 1) == Status::ok);
  REQUIRE(bench.add_destination(second_peer) == Status::ok);
  bench.link.holds = true;
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  for (std::uint32_t wf = 0; wf < 4; ++wf) {
    CHECK(bench.memory.arrivals().size() == wf + 1);
    CHECK(bench.link.arrivals().size() == 2 * (wf + 1));
    bench.link.answer_one();
    bench.settle();
    CHECK(bench.memory.arrivals().size() == wf + 1);  // the other copy is still here
    CHECK(bench.registers["pending"] == 1);
    CHECK_FALSE(bench.engine.has_sent_to(0, second_peer + grid.offset(grid.tile(0))));
    bench.link.answer_one();
    bench.settle();
  }
  CHECK(bench.registers["pending"] == 0);
  for (const std::uint64_t to : {DmaBench::peer_output, second_peer})
    CHECK(bench.engine.has_sent_to(0, to + grid.offset(grid.tile(0))));
  CHECK(bench.engine.diagnosis().empty());
}

TEST_CASE("a tile that cannot be read is sent to none and awaited from none") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::store, grid, 0, 1) == Status::ok);
  REQUIRE(bench.add_destination(second_peer) == Status::ok);
  bench.memory.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_ADDRESS_ERROR_RESPONSE; };
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  CHECK(bench.link.arrivals().empty());
  CHECK(bench.registers["pending"] == 0);
  CHECK_FALSE(bench.busy());
}

TEST_CASE("the diagnosis counts the tiles that are not sent") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 2) == Status::ok);
  REQUIRE(bench.map(Sent::notify, grid, 2, 2) == Status::ok);
  bench.trigger(grid, 1, 0);
  bench.settle();
  const auto lines = bench.engine.diagnosis();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::Contains("GPU 2 DMA: 1 of 8 wavefront tiles of workgroups 0 to 1") &&
                           Catch::Contains("have arrived"));
  CHECK_THAT(lines[1], Catch::Contains("0 of 8 wavefront tiles of workgroups 2 to 3") && Catch::Contains("are final"));
}

TEST_CASE("the engine is busy from the trigger until the link has taken the tile") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  REQUIRE_FALSE(bench.busy());
  bench.trigger(grid, 0, 0);
  REQUIRE(bench.busy());
  for (const Picoseconds time : {Picoseconds{1}, bench.parameters.latency, bench.memory.latency - 1'000}) {
    bench.run_for(time);
    REQUIRE(bench.busy());
  }
  bench.settle();
  REQUIRE_FALSE(bench.busy());
}

TEST_CASE("the engine knows what it sends where: its commands' tiles, and nothing for notify") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 2) == Status::ok);
  REQUIRE(bench.map(Sent::notify, grid, 2, 2) == Status::ok);
  const auto at_peer = [&](std::uint32_t wg) { return DmaBench::peer_output + grid.offset(grid.tile(wg)); };
  REQUIRE(bench.engine.sends_to(1, at_peer(1)));
  REQUIRE_FALSE(bench.engine.sends_to(2, at_peer(2)));                            // only watched
  REQUIRE_FALSE(bench.engine.sends_to(4, at_peer(4)));                            // not mapped
  REQUIRE_FALSE(bench.engine.sends_to(1, DmaBench::output));                      // not a peer's
  REQUIRE_FALSE(bench.engine.sends_to(1, DmaBench::peer_output + grid.bytes()));  // behind the output
}

}  // namespace t3vp::test::transfer_test
