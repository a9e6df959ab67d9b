// What passes through a GPU beside what it sends itself.
#include "interconnect/small_fabric.h"

namespace t3vp::test::transit_test {

using namespace interconnect;

TEST_CASE("what passes through a GPU takes turns with what it sends itself") {
  SmallFabric fabric(3);
  const std::uint64_t address = address_map::on_gpu(0, 0);
  std::vector<std::size_t> own;
  for (int i = 0; i < 100; ++i) own.push_back(fabric[1].compute.send(fabric.packet(address, 7500)));  // 100 ns each
  const std::size_t passing = fabric[2].compute.send(fabric.packet(address, 7500));
  fabric.settle();
  // It comes at 600 ns, when the sixth packet has left, and is the next one.
  REQUIRE(fabric[0].memory.arrivals().size() == 101);
  CHECK(fabric[2].compute.answer(passing).at ==
        fabric[1].compute.answer(own[5]).at + 100'000 + fabric.parameters.latency);
  CHECK(fabric[1].compute.answer(own[6]).at == fabric[1].compute.answer(own[5]).at + 200'000);
}

namespace {

/// Two hops of 1 GB/s and 500 ns for a store of 64 packets of 128 bytes with 8 of header each.
struct TwoHops {
  static LinkParameters links() {
    LinkParameters parameters;
    parameters.bandwidth_GBps = 1;
    parameters.header_bytes = 8;
    parameters.max_payload_bytes = 128;
    return parameters;
  }
  static constexpr Picoseconds packet = 136'000, store = 64 * packet, latency = 500'000;

  SmallFabric fabric;

  explicit TwoHops(const LinkParameters& parameters = links()) : fabric(3, parameters) {}
  std::size_t send(std::size_t from, Picoseconds delay = 0, std::uint32_t packets = 64) {
    return fabric[from].compute.send(fabric.packet(address_map::on_gpu(0, 0), packets * 128), delay);
  }
  std::vector<Picoseconds> arrivals() {
    fabric.settle();
    std::vector<Picoseconds> times;
    for (const auto& arrival : fabric[0].memory.arrivals()) times.push_back(arrival.at);
    return times;
  }
};

}  // namespace

TEST_CASE("a store of many packets takes a packet's time more over a second link") {
  TwoHops hops;
  const Picoseconds begin = now();
  hops.send(2);
  CHECK(hops.arrivals() == std::vector<Picoseconds>{begin + TwoHops::store + TwoHops::packet + 2 * TwoHops::latency});
}

TEST_CASE("a store of one packet is passed on when all of it has come") {
  LinkParameters parameters = TwoHops::links();
  parameters.max_payload_bytes = 0;
  TwoHops hops(parameters);
  const Picoseconds begin = now(), store = 64 * 128'000 + 8'000;
  hops.send(2);
  CHECK(hops.arrivals() == std::vector<Picoseconds>{begin + 2 * (store + TwoHops::latency)});
}

TEST_CASE("stores behind one another are passed on at the links' bandwidth") {
  TwoHops hops;
  const Picoseconds begin = now();
  for (int i = 0; i < 5; ++i) hops.send(2);
  CHECK(hops.arrivals().back() == begin + 5 * TwoHops::store + TwoHops::packet + 2 * TwoHops::latency);
  CHECK(hops.fabric.links[1]->busy_time() == 5 * TwoHops::store);
}

TEST_CASE("what is passed on begins no sooner than the link is free") {
  TwoHops hops;
  const Picoseconds begin = now();
  hops.send(2);
  // GPU 1's own store ends when half of the other one has come.
  const Picoseconds half = TwoHops::packet + TwoHops::latency + TwoHops::store / 2;
  hops.send(1, half - TwoHops::store / 2, 32);
  const std::vector<Picoseconds> times = hops.arrivals();
  CHECK(times[0] == begin + half + TwoHops::latency);
  CHECK(times[1] == begin + half + TwoHops::store + TwoHops::latency);
}

TEST_CASE("what is passed on begins no sooner than it has credits") {
  LinkParameters parameters = TwoHops::links();
  parameters.receive_buffer_bytes = 64 * 128;  // of one store
  TwoHops hops(parameters);
  const Picoseconds begin = now();
  hops.send(2);
  hops.send(2);
  // The second store's slot at GPU 1 is free when the first one has left there and the link has been notified. Its slot
  // at GPU 0 is free when it has arrived at GPU 1.
  const Picoseconds left = TwoHops::store + TwoHops::packet + TwoHops::latency;
  const Picoseconds second = left + TwoHops::latency;
  const std::vector<Picoseconds> times = hops.arrivals();
  CHECK(times[0] == begin + left + TwoHops::latency);
  CHECK(times[1] == begin + second + TwoHops::store + TwoHops::packet + 2 * TwoHops::latency);
  for (std::size_t i = 0; i < 2; ++i) CHECK(times[i] >= begin + (i + 1) * (TwoHops::store + TwoHops::latency));
}

TEST_CASE("what is passed on awaits the credits that the GPU's own store before it has taken") {
  LinkParameters parameters = TwoHops::links();
  parameters.receive_buffer_bytes = 64 * 128;  // of one store
  TwoHops hops(parameters);
  const Picoseconds begin = now();
  hops.send(1);
  hops.send(2, TwoHops::store - TwoHops::packet);
  // The other one's first packet comes when the own store has come to GPU 0, whose credits take the way back.
  const Picoseconds own = begin + TwoHops::store + TwoHops::latency, credits = own + TwoHops::latency;
  CHECK(hops.arrivals() == std::vector<Picoseconds>{own, credits + TwoHops::store + TwoHops::latency});
}

}  // namespace t3vp::test::transit_test
