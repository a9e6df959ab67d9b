// The order in which a receiver gets packets, and the wire in parts of several processes.
#include <algorithm>
#include <tuple>

#include "nic/nic_bench.h"

namespace t3vp::test::wire_test {

using namespace nic;

namespace {

constexpr std::uint16_t nics = 4;

struct Arrival {
  Picoseconds time;
  std::uint16_t from;
  std::uint32_t sequence;
  bool operator==(const Arrival& other) const {
    return std::tie(time, from, sequence) == std::tie(other.time, other.from, other.sequence);
  }
};

class Receiver : public PacketReceiver {
 public:
  void receive(const PacketPointer& packet, Picoseconds) override {
    arrivals.push_back({now(), packet->from_nic, packet->sequence});
  }
  std::vector<Arrival> arrivals;
};

WireParameters parameters() {
  WireParameters p;
  p.GBps = 1;
  p.latency = 300'000;
  return p;
}

/// A wire with receivers that send no acknowledgement.
struct Fabric {
  Wire wire;
  std::vector<Receiver> receivers{nics};
  explicit Fabric(const char* name) : wire(name, parameters()) {
    for (Receiver& receiver : receivers) wire.receivers.bind(receiver);
  }
};

PacketPointer packet(std::uint16_t from, std::uint16_t to, std::uint32_t sequence, std::uint32_t bytes) {
  auto made = std::make_shared<Packet>();
  made->from_nic = from;
  made->to_nic = to;
  made->sequence = sequence;
  made->bytes = bytes;
  return made;
}

/// Keeps what leaves a part until the end of a window.
struct Window : WireBoundary {
  std::vector<Passage> passages;
  void send(const Passage& passage) override { passages.push_back(passage); }
  void close(Wire& other) {
    for (Passage& passage : std::exchange(passages, {})) other.arrive(std::move(passage));
  }
};

}  // namespace

TEST_CASE("of packets that are given to the wire at one time that of the lowest NIC arrives first") {
  Fabric fabric("fabric");
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const int from : {2, 0, 1}) fabric.wire.send(packet(static_cast<std::uint16_t>(from), 3, 0, 100));
  fabric.wire.send(packet(0, 3, 1, 4));
  sc_core::sc_start();
  // 126 bytes, and 30, at a byte each nanosecond
  const std::vector<Arrival> expected{{426'000, 0, 0}, {456'000, 0, 1}, {582'000, 1, 0}, {708'000, 2, 0}};
  REQUIRE(fabric.receivers[3].arrivals == expected);
}

TEST_CASE("a wire in two parts, which hear of each other after its latency, delivers as a whole one") {
  Fabric whole("whole"), left("left"), right("right");  // NICs 0 and 1 are to the left
  Window leaves_left, leaves_right;
  left.wire.cut(leaves_left, {false, false, true, true});
  right.wire.cut(leaves_right, {true, true});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Random random(5);
  constexpr Picoseconds step = 50'000;
  std::size_t ties = 0;
  std::uint32_t number = 0;
  for (std::uint32_t window = 0; window < 400; ++window) {
    for (Picoseconds time = 0; time < parameters().latency; time += step) {
      std::vector<PacketPointer> sent;
      for (std::uint16_t from = 0; from < nics; ++from)
        for (std::uint64_t count = random.below(8) < 3 ? 1 + random.below(2) : 0; count != 0; --count)
          sent.push_back(packet(from, static_cast<std::uint16_t>(random.below(nics)), number++,
                                static_cast<std::uint32_t>(random.below(60))));
      ties += sent.size() > 1;
      for (const PacketPointer& p : sent) (p->from_nic < 2 ? left : right).wire.send(p);
      std::stable_sort(sent.begin(), sent.end(),
                       [](const auto& a, const auto& b) { return a->from_nic > b->from_nic; });
      for (const PacketPointer& p : sent) whole.wire.send(p);
      NicBench::run_for(step);
    }
    leaves_left.close(right.wire);
    leaves_right.close(left.wire);
  }
  sc_core::sc_start();
  REQUIRE(ties > 500);
  for (std::uint16_t nic = 0; nic < nics; ++nic) {
    const Receiver& in_part = (nic < 2 ? left : right).receivers[nic];
    REQUIRE(whole.receivers[nic].arrivals.size() > 500);
    REQUIRE((whole.receivers[nic].arrivals == in_part.arrivals));
  }
}

}  // namespace t3vp::test::wire_test
