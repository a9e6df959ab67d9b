// Updates of several GPUs to the same bytes, which a switch adds on their way, with memory controllers that keep data.
#include <catch2/catch.hpp>

#include <cstring>

#include "protocol/element.h"
#include "reading_node.h"
#include "topologies.h"

namespace t3vp::test::merging_switch_test {

namespace {

constexpr Picoseconds timeout = 20'000'000;

LinkTier merging(std::uint64_t bytes, Picoseconds until = timeout, double GBps = 0, std::uint32_t buffer = 65536) {
  LinkTier tier{{}, of_kind(Topology::Kind::switched)};
  tier.topology.switch_latency = 100'000;
  tier.topology.merging = {bytes, until, GBps};
  tier.links.bandwidth_GBps = 10;
  tier.links.header_bytes = 0;
  tier.links.receive_buffer_bytes = buffer;
  return tier;
}

constexpr std::uint64_t large = 1 << 20;

DataAccess update_of(std::uint64_t address, const Shape& shape, float value, std::uint32_t wg_id = 0) {
  DataAccess update;
  update.operation = Operation::update;
  update.address = address;
  update.shape = shape;
  update.element = ElementType::fp32;
  update.traffic = TrafficClass::gemm_write;
  update.producer = {wg_id, 0, 0};
  const std::vector<float> values(shape.bytes() / 4, value);
  update.data.resize(shape.bytes());
  std::memcpy(update.data.data(), values.data(), shape.bytes());
  return update;
}

void start() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
void settle() { sc_core::sc_start(); }

float value_at(ReadingNode& node, std::uint16_t gpu, std::uint64_t address) {
  DataAccess load;
  load.operation = Operation::load;
  load.address = address;
  load.shape = {1, 4, 0};
  const std::size_t number = node.send(gpu, gpu, load);
  settle();
  float value = 0;
  std::memcpy(&value, node.answer(gpu, gpu, number).data.data(), 4);
  return value;
}

/// Bytes that the switch has sent to GPUs, and that it has got.
struct Carried {
  std::uint64_t up = 0, down = 0;
};
Carried carried(const ReadingNode& node) {
  Carried sum;
  for (const auto& link : node.wires->links) (link->from().is_switch ? sum.down : sum.up) += link->sent().payload_bytes;
  return sum;
}

const Shape tile{16, 256, 1024};

/// Every GPU updates `tiles` tiles of every other one, in the same order.
std::vector<std::pair<std::uint16_t, std::size_t>> send_all(ReadingNode& node, std::uint32_t tiles,
                                                            Picoseconds apart = 0, bool has_data = true) {
  std::vector<std::pair<std::uint16_t, std::size_t>> sent;
  const auto gpus = static_cast<std::uint16_t>(node.gpus.size());
  for (std::uint32_t i = 0; i < tiles; ++i)
    for (std::uint16_t to = 0; to < gpus; ++to)
      for (std::uint16_t from = 0; from < gpus; ++from)
        if (from != to) {
          DataAccess update = update_of(i * 16384, tile, static_cast<float>(1 << from), i);
          if (!has_data) update.data.clear();
          sent.emplace_back(from, node.send(from, to, update, from * apart));
        }
  return sent;
}

void check_sums(ReadingNode& node, std::uint32_t tiles) {
  const auto gpus = static_cast<std::uint16_t>(node.gpus.size());
  for (std::uint16_t to = 0; to < gpus; ++to)
    for (std::uint32_t i = 0; i < tiles; ++i)
      for (const std::uint64_t at : {0u, 15u * 1024 + 252})
        CHECK(value_at(node, to, i * 16384 + at) == static_cast<float>((1 << gpus) - 1 - (1 << to)));
}

void check_answers(ReadingNode& node, const std::vector<std::pair<std::uint16_t, std::size_t>>& sent) {
  for (const auto& [from, number] : sent) {
    REQUIRE(node.gpus[from]->away.answer(number).ok());
    REQUIRE(node.gpus[from]->away.answer(number).taken == 1);
  }
}

}  // namespace

TEST_CASE("what all others add to a GPU goes down its link once, as one sum, and all are answered") {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  for (const std::uint32_t gpus : {3u, 5u, 8u})
    nodes.push_back(std::make_unique<ReadingNode>("merge" + std::to_string(gpus), merging(large), gpus, true));
  start();
  for (const auto& node : nodes) {
    const std::uint64_t n = node->gpus.size();
    const auto sent = send_all(*node, 4, 1000);
    settle();
    check_answers(*node, sent);
    check_sums(*node, 4);
    CHECK(carried(*node).up == n * (n - 1) * 4 * tile.bytes());
    CHECK(carried(*node).down == n * 4 * tile.bytes());
  }
}

TEST_CASE("a switch without table or timeout sends every update on, at the time of a plain switch") {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  LinkTier plain = merging(0, 0);
  plain.topology.merging = {};
  const LinkTier tiers[] = {plain, merging(0), merging(large, 0)};
  for (const LinkTier& tier : tiers)
    nodes.push_back(std::make_unique<ReadingNode>("off" + std::to_string(nodes.size()), tier, 4, true));
  start();
  std::vector<std::vector<std::pair<std::uint16_t, std::size_t>>> sent;
  for (const auto& node : nodes) sent.push_back(send_all(*node, 2, 500));
  settle();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    CHECK(carried(*nodes[i]).down == carried(*nodes[i]).up);
    for (std::size_t k = 0; k < sent[i].size(); ++k)
      CHECK(nodes[i]->gpus[sent[i][k].first]->away.answer(sent[i][k].second).at ==
            nodes[0]->gpus[sent[0][k].first]->away.answer(sent[0][k].second).at);
    check_sums(*nodes[i], 2);
  }
}

TEST_CASE("a sum leaves at its timeout without the others, which form another one") {
  ReadingNode node("late", merging(large, 5'000'000), 4, true);
  start();
  const std::size_t first = node.send(0, 3, update_of(0, tile, 1)), second = node.send(1, 3, update_of(0, tile, 2));
  const std::size_t late = node.send(2, 3, update_of(0, tile, 4), 30'000'000);
  settle();
  CHECK(value_at(node, 3, 0) == 7);
  CHECK(carried(node).down == 2 * tile.bytes());
  const Picoseconds up = 409'600 + 500'000, down = 100'000 + 409'600 + 500'000;  // its bytes, latency, the switch
  const DataAnswer& answer = node.gpus[0]->away.answer(first);
  CHECK(answer.at > up + 5'000'000 + down);
  CHECK(answer.at == node.gpus[1]->away.answer(second).at);
  CHECK(node.gpus[2]->away.answer(late).at > 30'000'000 + up + 5'000'000 + down);
}

TEST_CASE("a sum passes the switch as fast as an update, and so do its answers") {
  LinkTier with = merging(large), plain = merging(0, 0);
  plain.topology.merging = {};
  for (LinkTier* tier : {&with, &plain}) {
    tier->links.max_payload_bytes = 0;
    tier->topology.switch_latency = 1'000'000;
  }
  ReadingNode sums("sums", with, 3, true), updates("updates", plain, 3, true);
  start();
  const std::size_t one = sums.send(0, 2, update_of(0, tile, 1)), single = updates.send(0, 2, update_of(0, tile, 1));
  sums.send(1, 2, update_of(0, tile, 2));
  settle();
  const Picoseconds merged = sums.gpus[0]->away.answer(one).at, alone = updates.gpus[0]->away.answer(single).at;
  CHECK(std::max(merged, alone) - std::min(merged, alone) < sums.gpus[0]->controller.lookahead());
}

TEST_CASE("sums that have left make room for others, and the oldest one leaves when there is none") {
  ReadingNode node("rooms", merging(tile.bytes()), 3, true);
  start();
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint16_t from = 0; from < 2; ++from) node.send(from, 2, update_of(i * 16384, tile, 1), i * 10'000'000);
  settle();
  CHECK(carried(node).down == 4 * tile.bytes());
  const Picoseconds begin = now();
  const std::size_t oldest = node.send(0, 2, update_of(0, tile, 1));
  node.send(0, 2, update_of(16384, tile, 1), 1'000'000);
  settle();
  CHECK(node.gpus[0]->away.answer(oldest).at - begin < timeout / 2);
}

TEST_CASE("a table with too little room, and buffers of little more than a tile, lose nothing") {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  const std::uint64_t rooms[] = {tile.bytes() - 1, tile.bytes(), 3 * tile.bytes(), 9 * tile.bytes()};
  for (const std::uint64_t room : rooms)
    nodes.push_back(
        std::make_unique<ReadingNode>("room" + std::to_string(nodes.size()), merging(room, timeout, 0, 5000), 5, true));
  start();
  std::uint64_t before = ~std::uint64_t{0};
  for (const auto& node : nodes) {
    const auto sent = send_all(*node, 10, 700);
    settle();
    check_answers(*node, sent);
    check_sums(*node, 10);
    CHECK(carried(*node).down <= before);
    before = carried(*node).down;
  }
  CHECK(carried(*nodes[0]).down == carried(*nodes[0]).up);
  CHECK(carried(*nodes[3]).down < carried(*nodes[3]).up);
}

TEST_CASE("updates of other bytes, shapes or tiles are no part of the sum") {
  ReadingNode node("other", merging(large), 3, true);
  start();
  node.send(0, 2, update_of(0, tile, 1, 7));
  node.send(1, 2, update_of(0, tile, 2, 8));
  node.send(0, 2, update_of(16384, tile, 1, 9));
  node.send(1, 2, update_of(16384, {8, 256, 1024}, 2, 9));
  settle();
  CHECK(carried(node).down == 3 * tile.bytes() + tile.bytes() / 2);
  CHECK(value_at(node, 2, 0) == 3);
  CHECK(value_at(node, 2, 16384) == 3);
}

TEST_CASE("a flag does not overtake the sum that has its sender's tile") {
  ReadingNode node("flag", merging(large, 3'000'000), 4, true);
  start();
  node.send(0, 3, update_of(0, tile, 5));
  DataAccess flag;
  flag.operation = Operation::store;
  flag.address = 0x80000;
  flag.shape = {1, 4, 0};
  flag.data = {1, 0, 0, 0};
  flag.real = true;
  const std::size_t other = node.send(1, 3, flag, 1'000'000), own = node.send(0, 3, flag, 1'000'000);
  settle();
  const Picoseconds left = 409'600 + 500'000 + 3'000'000;
  CHECK(node.gpus[1]->away.answer(other).at < left);
  CHECK(node.gpus[0]->away.answer(own).at > left + 409'600);
  CHECK(value_at(node, 3, 0) == 5);
  CHECK(value_at(node, 3, 0x80000) != 0);
}

TEST_CASE("a tile waits for its sender's sum of the same bytes alone") {
  ReadingNode node("tile", merging(large, 3'000'000), 4, true);
  start();
  node.send(0, 3, update_of(0, tile, 5));
  DataAccess same = update_of(1024, tile, 8), other = update_of(0x80000, tile, 8);
  same.operation = other.operation = Operation::store;
  const std::size_t waits = node.send(0, 3, same, 1'000'000), passes = node.send(0, 3, other, 1'000'000);
  settle();
  const Picoseconds left = 409'600 + 500'000 + 3'000'000;
  CHECK(node.gpus[0]->away.answer(passes).at < left + 1'000'000);  // with its acknowledgement
  CHECK(node.gpus[0]->away.answer(waits).at > left + 2'000'000);
  CHECK(value_at(node, 3, 1024) == 8);
}

TEST_CASE("adders take the time that their rate says") {
  ReadingNode fast("fast", merging(large), 8, true), slow("slow", merging(large, timeout, 2), 8, true);
  start();
  Picoseconds ends[2];
  int i = 0;
  for (ReadingNode* node : {&fast, &slow}) {
    std::vector<std::size_t> sent;
    for (std::uint16_t from = 1; from < 8; ++from) sent.push_back(node->send(from, 0, update_of(0, tile, 1)));
    const Picoseconds begin = now();
    settle();
    ends[i++] = node->gpus[1]->away.answer(sent[0]).at - begin;
  }
  // Memory takes what comes by slices of time.
  const Picoseconds expected = 7 * transfer_time(tile.bytes(), 2), slice = fast.gpus[0]->controller.lookahead();
  CHECK(ends[1] - ends[0] > expected - slice);
  CHECK(ends[1] - ends[0] < expected + slice);
}

TEST_CASE("an update keeps its place in the switch's buffer until it has been added") {
  ReadingNode node("held", merging(large, 200'000'000, 0.1, 5000), 3, true);
  start();
  node.send(0, 2, update_of(0, tile, 1));
  const std::size_t second = node.send(0, 2, update_of(16384, tile, 1));
  settle();
  CHECK(node.gpus[0]->away.answer(second).taken_at > transfer_time(tile.bytes(), 0.1));
}

namespace {

DataAccess load_of(std::uint64_t address) {
  DataAccess load;
  load.operation = Operation::load;
  load.address = address;
  load.shape = tile;
  load.element = ElementType::fp32;
  return load;
}

}  // namespace

TEST_CASE("a GPU's bytes go up its link once for loads of all others, and down to each") {
  ReadingNode node("loads", merging(large), 5, true);
  start();
  DataAccess content = update_of(0, tile, 3);
  content.operation = Operation::store;
  node.send(2, 2, content);
  settle();
  constexpr std::uint16_t readers[] = {0, 1, 3, 4};
  std::vector<std::size_t> loads(5);
  for (const std::uint16_t from : readers) loads[from] = node.send(from, 2, load_of(0), from * 1000);
  settle();
  for (const std::uint16_t from : readers) CHECK(node.gpus[from]->away.answer(loads[from]).data == content.data);
  for (const auto& link : node.wires->links) {
    const bool is_of_owner = (link->from().is_switch ? link->to() : link->from()).number == 2;
    CHECK(link->sent().payload_bytes == (link->from().is_switch != is_of_owner ? tile.bytes() : 0));
  }
}

TEST_CASE("a load behind a write through the switch brings what was written") {
  ReadingNode node("behind", merging(large), 4, true);
  start();
  std::vector<std::pair<std::uint16_t, std::size_t>> loads;
  // A load is in flight when the store passes, and the next one comes right behind it.
  loads.emplace_back(0, node.send(0, 3, load_of(0)));
  DataAccess content = update_of(0, tile, 9);
  content.operation = Operation::store;
  node.send(1, 3, content, 100'000);
  loads.emplace_back(1, node.send(1, 3, load_of(0), 100'001));
  settle();
  CHECK(node.gpus[1]->away.answer(loads[1].second).data == content.data);
  CHECK(node.gpus[0]->away.answer(loads[0].second).ok());
}

TEST_CASE("a load behind an update that is not merged brings the sum") {
  ReadingNode node("unmerged", merging(tile.bytes() - 1), 4, true);
  start();
  node.send(0, 3, load_of(0));
  const DataAccess update = update_of(0, tile, 9);
  node.send(1, 3, update, 100'000);
  const std::size_t load = node.send(1, 3, load_of(0), 100'001);
  settle();
  CHECK(node.gpus[1]->away.answer(load).data == update.data);
}

TEST_CASE("a load that nobody joins takes as long as by a plain switch") {
  LinkTier with = merging(large), plain = merging(0, 0);
  plain.topology.merging = {};
  for (LinkTier* tier : {&with, &plain}) tier->links.max_payload_bytes = 0;
  ReadingNode once("once", with, 3, true), always("always", plain, 3, true);
  start();
  const std::size_t one = once.send(0, 2, load_of(0)), other = always.send(0, 2, load_of(0));
  settle();
  CHECK(once.gpus[0]->away.answer(one).at == always.gpus[0]->away.answer(other).at);
}

TEST_CASE("merging takes as long without data") {
  ReadingNode with("with", merging(3 * tile.bytes()), 5, true), without("without", merging(3 * tile.bytes()), 5, false);
  start();
  const auto one = send_all(with, 6, 900), other = send_all(without, 6, 900, false);
  settle();
  for (std::size_t k = 0; k < one.size(); ++k)
    CHECK(with.gpus[one[k].first]->away.answer(one[k].second).at ==
          without.gpus[other[k].first]->away.answer(other[k].second).at);
}

TEST_CASE("a sum that memory refuses is refused to everyone") {
  ReadingNode node("refused", merging(large), 3, true);
  start();
  const std::uint64_t beyond = std::uint64_t{64} << 20;
  const std::size_t one = node.send(0, 2, update_of(beyond, tile, 1)),
                    other = node.send(1, 2, update_of(beyond, tile, 1));
  settle();
  CHECK(node.gpus[0]->away.answer(one).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(node.gpus[1]->away.answer(other).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

}  // namespace t3vp::test::merging_switch_test
