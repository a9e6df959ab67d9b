#include <algorithm>

#include "nic/nic_bench.h"

namespace t3vp::test::random_test {

using namespace nic;

namespace {

constexpr std::uint32_t queues = 4, area = 0x4000;

/// Each queue pair of each side has at the other side an area of its own to write to, add in and read from, and here
/// one for results. A reference does the same at once, in the order of posting.
struct Traffic {
  NicBench& bench;
  Random random;
  std::uint32_t key_a, key_b;
  std::vector<unsigned char> memory_a, memory_b;  ///< of the reference
  std::uint64_t posted = 0;
  bool fenced = false;

  Traffic(NicBench& with, std::uint32_t seed) : bench(with), random(seed) {
    for (Side* side : {&bench.a, &bench.b}) side->completion_queue(0, 128);
    for (std::uint32_t queue = 0; queue < queues; ++queue) {
      for (Side* side : {&bench.a, &bench.b}) side->registers.set("retry", 1 << 8 | 7, queue);
      bench.connect(queue);
    }
    key_a = bench.a.region(Side::data, Side::size - Side::data);
    key_b = bench.b.region(Side::data, Side::size - Side::data);
    for (Side* side : {&bench.a, &bench.b}) side->fill(Side::data, random.bytes(Side::size - Side::data));
    memory_a = bench.a.bytes;
    memory_b = bench.b.bytes;
  }

  static std::uint64_t target(std::uint32_t queue, bool of_a) {
    return Side::data + (2 * queue + (of_a ? 0 : 1)) * area;
  }
  static std::uint64_t results(std::uint32_t queue) { return Side::data + (2 * queues + queue) * area; }
  static constexpr std::uint64_t source = Side::data + 3 * queues * area;  ///< which is never written

  void post(std::uint32_t queue, bool of_a) {
    Side &here = of_a ? bench.a : bench.b, &there = of_a ? bench.b : bench.a;
    auto &mine = of_a ? memory_a : memory_b, &others = of_a ? memory_b : memory_a;
    const std::uint32_t key = of_a ? key_a : key_b, remote = of_a ? key_b : key_a;
    const std::uint32_t bytes = random.coin() ? random.below(64) : random.below(area / 2);
    const std::uint64_t at = target(queue, of_a) + random.below(area / 2),
                        result = results(queue) + random.below(area / 2), from = source + random.below(area / 2);
    ++posted;
    switch (random.below(4)) {
      case 0:
        here.post_segments(NicOpcode::write, there.base + at, remote, {{here.base + from, key, bytes}}, queue);
        return copy(mine, from, others, at, bytes);
      case 1: {
        const auto content = random.bytes(random.below(33));
        here.post_inline(there.base + at, remote, content, queue);
        std::copy(content.begin(), content.end(), others.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      }
      case 2:
        here.post_segments(NicOpcode::read, there.base + at, remote, {{here.base + result, key, bytes}}, queue,
                           random.coin());
        return copy(others, at, mine, result, bytes);
      default: {
        const std::uint64_t counter = at / 8 * 8, addend = random.below(1 << 30);
        here.post_add(there.base + counter, remote, addend, {here.base + result, key, 8}, queue);
        copy(others, counter, mine, result, 8);
        t3_put_number(&others[counter], 8, t3_number_at(&others[counter], 8) + addend);
      }
    }
  }

  void round() {
    for (std::uint32_t queue = 0; queue < queues; ++queue)
      for (const bool of_a : {true, false}) {
        const std::uint32_t count = random.below(Side::entries);
        for (std::uint32_t i = 0; i < count; ++i) {
          post(queue, of_a);
          if (fenced) (of_a ? bench.a : bench.b).fence_last(queue);
        }
        if (count != 0) (of_a ? bench.a : bench.b).ring(queue);
      }
    bench.settle();
    for (Side* side : {&bench.a, &bench.b}) side->registers.set("consumed", side->registers.element("produced", 0));
  }

  void require_same() {
    const auto same = [](const std::vector<unsigned char>& left, const std::vector<unsigned char>& right) {
      return std::equal(left.begin() + Side::data, left.end(), right.begin() + Side::data);
    };
    REQUIRE(same(bench.a.bytes, memory_a));
    REQUIRE(same(bench.b.bytes, memory_b));
    REQUIRE(bench.a.registers["messages"] + bench.b.registers["messages"] == posted);
    REQUIRE(bench.a.registers.reported.empty());
    REQUIRE(bench.b.registers.reported.empty());
  }

 private:
  static void copy(const std::vector<unsigned char>& from, std::uint64_t at, std::vector<unsigned char>& to,
                   std::uint64_t to_at, std::uint32_t bytes) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), bytes, to.begin() + static_cast<std::ptrdiff_t>(to_at));
  }
};

}  // namespace

TEST_CASE("random messages of several queue pairs both ways leave what a reference leaves") {
  NicBench bench;
  Traffic traffic(bench, 21);
  for (int round = 0; round < 40; ++round) {
    traffic.round();
    traffic.require_same();
  }
}

// A read that is sent again sees what was written behind it unless this had a fence, as InfiniBand says.
TEST_CASE("random fenced messages with losses leave what a reference leaves") {
  NicParameters parameters;
  parameters.payload_in_flight = 8192;
  parameters.entry_fetches = 4;
  NicBench bench(parameters);
  Random losses(5);
  bench.wire.drops = [&](const Packet&) { return losses.below(20) == 0; };
  Traffic traffic(bench, 22);
  traffic.fenced = true;
  for (int round = 0; round < 40; ++round) {
    traffic.round();
    traffic.require_same();
  }
  REQUIRE(bench.wire.lost() > 100);
}

TEST_CASE("a NIC that is reset at any time has forgotten everything and works again") {
  NicBench bench;
  const auto write = [&] {
    const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
    bench.connect();
    bench.a.post_segments(NicOpcode::write, bench.b.base + 0x20000, remote, {{bench.a.base + 0x20000, key, 0x40000}});
    bench.a.ring();
  };
  for (Picoseconds after = 100'000; after < 4'000'000; after += 300'000) {
    for (Side* side : {&bench.a, &bench.b}) {
      side->nic.registers.reset();
      side->go_to(reset_state);
      side->bytes.assign(Side::size, 0);
      side->completion_queue(0);
    }
    write();
    bench.run_for(after);
    for (Side* side : {&bench.a, &bench.b}) {
      side->nic.registers.reset();
      side->completion_queue(0);
      side->go_to(reset_state);
    }
    bench.settle();
    REQUIRE(bench.a.registers["messages"] == 0);
    REQUIRE(bench.a.registers["regions"] == 0);
    REQUIRE(bench.b.registers["number"] == 1);
    REQUIRE(bench.a.nic.diagnosis().empty());
    write();
    bench.settle();
    REQUIRE(bench.a.registers["messages"] == 1);
    REQUIRE(bench.a.registers["produced"] == 1);
  }
}

TEST_CASE("diagnosis names the queue pair, its next entry and what is not acknowledged") {
  NicBench bench;
  bench.a.registers.set("retry", 7, 2);  // waits for ever
  bench.connect(2);
  const std::uint32_t remote = bench.b.region(Side::data, 64);
  bench.wire.drops = [](const Packet&) { return true; };
  bench.a.post_inline(bench.b.base + Side::data, remote, {1, 2}, 2);
  bench.a.post_inline(bench.b.base + Side::data, remote, {1}, 2);
  bench.a.ring(2);
  bench.settle();
  REQUIRE(
      bench.a.nic.diagnosis() ==
      std::vector<std::string>{"NIC 0: queue pair 2 has ended 0 of 2 work entries; the next is a write of 2 bytes at "
                               "0x1000000a0000; packet 0 is not acknowledged"});
}

TEST_CASE("statistics tell what was sent, placed and sent again") {
  NicBench bench;
  bench.a.registers.set("retry", 1 << 8 | 7);
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x2000), remote = bench.b.region(Side::data, 0x2000);
  bool lost = false;
  bench.wire.drops = [&](const Packet&) { return !std::exchange(lost, true); };
  bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data, remote, {{bench.a.base + Side::data, key, 5000}});
  bench.a.ring();
  bench.settle();
  const auto figure = [](const Nic& nic, const std::string& wanted) {
    double found = -1;
    nic.visit_statistics([&](const std::string& name, const std::string&, const std::string&, double value) {
      if (name == wanted) found = value;
    });
    return found;
  };
  REQUIRE(figure(bench.a.nic, "messages") == 1);
  REQUIRE(figure(bench.a.nic, "payload") == 10000);
  REQUIRE(figure(bench.a.nic, "resent") == 2);
  REQUIRE(figure(bench.a.nic, "placed") == 0);
  REQUIRE(figure(bench.a.nic, "errors") == 0);
  REQUIRE(figure(bench.b.nic, "placed") == 5000);
}

}  // namespace t3vp::test::random_test
