#include "nic/nic_bench.h"

namespace t3vp::test::accumulate_test {

using namespace nic;

namespace {

constexpr std::uint64_t quick = 1 << 8 | 7;  ///< 8.192 us, 7 retries
constexpr std::uint8_t element_of(ElementType type) { return static_cast<std::uint8_t>(type); }

/// Small integers, whose sums every element type holds.
std::vector<unsigned char> integers(Random& random, ElementType type, std::uint64_t bytes) {
  std::vector<float> values(bytes / bytes_of(type));
  for (float& value : values) value = static_cast<float>(random.below(5)) - 2;
  std::vector<unsigned char> narrow(values.size() * bytes_of(type));
  narrow_elements(type, values.data(), narrow.data(), values.size());
  return narrow;
}

/// What memory is when every element of the rows has been added once, one element after the other.
void add_rows(std::vector<unsigned char>& to, std::uint64_t at, const std::vector<unsigned char>& from,
              std::uint64_t from_at, const t3_nic_tile& tile, std::uint64_t bytes) {
  const auto type = static_cast<ElementType>(tile.element);
  for (std::uint64_t done = 0; done < bytes; done += bytes_of(type)) {
    const std::uint64_t place = done / tile.row_bytes * tile.row_stride + done % tile.row_bytes;
    float sum = 0, addend = 0;
    widen_elements(type, &to[at + place], &sum, 1);
    widen_elements(type, &from[from_at + place], &addend, 1);
    sum += addend;
    narrow_elements(type, &sum, &to[at + place], 1);
  }
}

struct Sums {
  NicBench bench;
  Random random{5};
  std::uint32_t key, remote;

  explicit Sums(const NicParameters& parameters = {}, bool functional = true) : bench(parameters, functional) {
    bench.connect();
    for (Side* side : {&bench.a, &bench.b}) side->registers.set("retry", quick);
    key = bench.a.region(Side::data, 0x20000);
    remote = bench.b.region(Side::data, 0x20000, remote_accumulate);
  }
  std::uint64_t here() const { return bench.a.base + Side::data; }
  std::uint64_t there() const { return bench.b.base + Side::data; }
  void fill(ElementType type) {
    for (Side* side : {&bench.a, &bench.b}) side->fill(Side::data, integers(random, type, 0x20000));
  }
  t3_nic_completion last() {
    const auto done = bench.a.completions();
    REQUIRE(done.size() == 1);
    bench.a.registers.set("consumed", bench.a.registers.element("produced", 0));
    return done[0];
  }
  /// Sends `bytes` from and to 64 bytes behind the start of the data, and compares the whole memory.
  void require_sum(const t3_nic_tile& tile, std::uint32_t bytes) {
    std::vector<unsigned char> expected = bench.b.bytes;
    add_rows(expected, Side::data + 64, bench.a.bytes, Side::data + 64, tile, bytes);
    bench.a.post_accumulate(there() + 64, remote, {here() + 64, key, bytes}, tile);
    bench.a.ring();
    bench.settle();
    const t3_nic_completion done = last();
    REQUIRE(syndrome_of(done) == NicSyndrome::ok);
    REQUIRE(done.bytes == bytes);
    REQUIRE(bench.b.content(Side::data, 0x20000) ==
            std::vector<unsigned char>(expected.begin() + Side::data, expected.begin() + Side::data + 0x20000));
  }
};

}  // namespace

TEST_CASE("an accumulate adds rows of any length where they belong and touches nothing else") {
  NicParameters parameters;
  parameters.mtu = 256;
  Sums sums(parameters);
  for (const ElementType type : {ElementType::fp16, ElementType::bf16, ElementType::fp32})
    for (int i = 0; i < 20; ++i) {
      const std::uint32_t element = bytes_of(type), columns = 1 + sums.random.below(200),
                          rows = 1 + sums.random.below(20);
      const std::uint32_t stride = (columns + sums.random.below(50)) * element;
      sums.fill(type);
      sums.require_sum({columns * element, stride, 7, 3, element_of(type), 0}, rows * columns * element);
    }
}

TEST_CASE("each packet's updates name tile and sender and the element type, as communication") {
  NicParameters parameters;
  parameters.mtu = 512;
  Sums sums(parameters);
  sums.fill(ElementType::fp16);
  sums.require_sum({96, 160, 0x12345, 5, element_of(ElementType::fp16), 0}, 96 * 30);
  std::uint64_t bytes = 0;
  for (const DataTarget::Arrival& arrival : sums.bench.b.memory.arrivals()) {
    const DataExtension& update = arrival.extension;
    REQUIRE(update.operation == Operation::update);
    REQUIRE(update.stream == Stream::communication);
    REQUIRE(update.element == ElementType::fp16);
    REQUIRE(update.producer.wg_id == 0x12345);
    REQUIRE(update.producer.wf_id == 5);
    REQUIRE(update.producer.gpu == 0);
    bytes += update.shape.bytes();
  }
  REQUIRE(bytes == 96 * 30);
  REQUIRE(sums.bench.wire.bytes() == 96 * 30 + 6 * 26 + 16 + 16 + 30);  // 6 packets, an acknowledgement
}

TEST_CASE("an accumulate without data sends the same shapes, and its bytes take the wire") {
  Sums sums({}, false);
  sums.bench.a.post_accumulate(sums.there(), sums.remote, {sums.here(), sums.key, 90 * 70},
                               {90, 96, 1, 1, element_of(ElementType::bf16), 0});
  sums.bench.a.ring();
  sums.bench.settle();
  REQUIRE(syndrome_of(sums.last()) == NicSyndrome::ok);
  std::uint64_t bytes = 0;
  for (const DataTarget::Arrival& arrival : sums.bench.b.memory.arrivals()) {
    REQUIRE(arrival.data.empty());
    bytes += arrival.extension.shape.bytes();
  }
  REQUIRE(bytes == 90 * 70);
  REQUIRE(sums.bench.wire.bytes() == 90 * 70 + 2 * 26 + 16 + 16 + 30);
}

TEST_CASE("whichever packet is lost an accumulate adds exactly once") {
  NicParameters parameters;
  parameters.mtu = 256;
  Sums sums(parameters);
  std::uint64_t rounds = 0;
  for (std::uint64_t lost = 0;; ++lost, ++rounds) {
    std::uint64_t number = 0;
    bool dropped = false;
    sums.bench.wire.drops = [&](const Packet&) { return number++ == lost && (dropped = true); };
    sums.fill(ElementType::fp32);
    sums.require_sum({180, 192, 2, 0, element_of(ElementType::fp32), 0}, 180 * 9);
    if (!dropped) break;
  }
  REQUIRE(rounds == 8);  // 7 packets and an acknowledgement
}

TEST_CASE("accumulates of several queue entries add exactly once though a tenth of all packets is lost") {
  NicParameters parameters;
  parameters.mtu = 256;
  Sums sums(parameters);
  sums.bench.wire.drops = [&](const Packet&) { return sums.random.below(10) == 0; };
  const t3_nic_tile tile{100, 128, 1, 1, element_of(ElementType::fp16), 0};
  for (int round = 0; round < 60; ++round) {
    sums.fill(ElementType::fp16);
    std::vector<unsigned char> expected = sums.bench.b.bytes;
    for (std::uint32_t i = 0; i < 10; ++i) {  // all onto the same elements
      add_rows(expected, Side::data, sums.bench.a.bytes, Side::data + 0x1000 * i, tile, 1000);
      sums.bench.a.post_accumulate(sums.there(), sums.remote, {sums.here() + 0x1000 * i, sums.key, 1000}, tile);
    }
    sums.bench.a.ring();
    sums.bench.settle();
    REQUIRE(sums.bench.a.completions().size() == 10);
    sums.bench.a.registers.set("consumed", sums.bench.a.registers.element("produced", 0));
    REQUIRE(sums.bench.b.content(Side::data, 0x1000) ==
            std::vector<unsigned char>(expected.begin() + Side::data, expected.begin() + Side::data + 0x1000));
  }
  REQUIRE(sums.bench.wire.lost() > 100);
}

namespace {

/// Accumulates that fail, each on a queue pair of its own.
struct Failures {
  Sums sums;
  std::uint32_t queue = 0;
  std::vector<unsigned char> before;

  Failures() {
    sums.fill(ElementType::fp16);
    before = sums.bench.b.content(Side::data, 0x20000);
  }

  /// The entry with these changes ends with the syndrome and a line that has the text at either side, and nothing is
  /// added.
  template <typename Change>
  void require(NicSyndrome syndrome, const std::string& text, const t3_nic_tile& tile, std::uint32_t bytes,
               Change change, std::uint64_t rights = remote_accumulate) {
    INFO(text);
    sums.bench.connect(++queue);
    const std::uint32_t key = sums.bench.a.region(Side::data, 0x1000),
                        remote = sums.bench.b.region(Side::data, 0x1000, rights);
    t3_nic_work_entry head = sums.bench.a.head(NicOpcode::accumulate, sums.there(), remote, queue);
    head.segments = 1;
    change(head);
    std::vector<unsigned char> tail = Side::tail_of({{sums.here(), key, bytes}, {}});
    t3_nic_tile_to(&tile, &tail[16]);
    sums.bench.a.post(head, tail, queue);
    sums.bench.a.ring(queue);
    sums.bench.settle();
    REQUIRE(syndrome_of(sums.last()) == syndrome);
    REQUIRE((sums.bench.a.has_reported(text) || sums.bench.b.has_reported(text)));
    REQUIRE(sums.bench.a.state(queue) == error_state);
    REQUIRE(sums.bench.b.content(Side::data, 0x20000) == before);
  }
  void require(NicSyndrome syndrome, const std::string& text, const t3_nic_tile& tile, std::uint32_t bytes) {
    require(syndrome, text, tile, bytes, [](t3_nic_work_entry&) {});
  }
};

}  // namespace

TEST_CASE("what an accumulate's entry says wrong is named") {
  Failures failures;
  const auto fp16 = element_of(ElementType::fp16);
  const auto local = NicSyndrome::local_operation, length = NicSyndrome::local_length;
  const t3_nic_tile good{64, 64, 0, 0, fp16, 0};
  failures.require(local, "element 3: fp16, bf16 or fp32 expected", {64, 64, 0, 0, 3, 0}, 128);
  failures.require(local, "128 bytes in rows of 63: 1 whole row or more of 2-byte elements", {63, 64, 0, 0, fp16, 0},
                   128);
  failures.require(local, "128 bytes in rows of 0:", {0, 64, 0, 0, fp16, 0}, 128);
  failures.require(local, "130 bytes in rows of 64:", good, 130);
  failures.require(local, "0 bytes in rows of 64:", good, 0);
  failures.require(local, "rows of 64 bytes, 62 apart: 64 or more", {64, 62, 0, 0, fp16, 0}, 128);
  failures.require(local, "rows of 64 bytes, 65 apart: 64 or more", {64, 65, 0, 0, fp16, 0}, 128);
  failures.require(local, "reserved fields are not 0", {64, 64, 0, 0, fp16, 1}, 128);
  failures.require(length, "accumulate with 2 segments: 1 expected", good, 128,
                   [](t3_nic_work_entry& head) { head.segments = 2; });
  failures.require(length, "accumulate with inline data: segments expected", good, 128,
                   [](t3_nic_work_entry& head) { head.flags |= T3_NIC_WORK_ENTRY_FLAGS_INLINE; });
}

TEST_CASE("an accumulate needs a right of its own, its last row within the keys, and whole elements") {
  Failures failures;
  const t3_nic_tile good{64, 256, 0, 0, element_of(ElementType::fp16), 0};
  const auto moved = [](std::uint64_t by) { return [by](t3_nic_work_entry& head) { head.remote_address += by; }; };
  failures.require(NicSyndrome::remote_access, "a region with the right remote_accumulate expected", good, 64 * 16,
                   moved(0), all_rights & ~remote_accumulate);
  failures.require(NicSyndrome::remote_access, "0xf40 bytes at", good, 64 * 16, moved(0xC2));
  failures.require(NicSyndrome::local_protection, "0x1040 bytes at", good, 64 * 17);
  failures.require(NicSyndrome::remote_invalid_request, "accumulate of fp16 at", good, 64 * 16, moved(3));
  failures.sums.require_sum(good, 64 * 16);
}

TEST_CASE("near-memory compute that is off ends an accumulate with an error that names it, on its own way back") {
  NicParameters parameters;
  parameters.mtu = 256;
  NicBench bench(parameters);
  const std::uint32_t key = bench.b.region(Side::data, 0x1000), remote = bench.a.region(Side::data, 0x1000);
  bench.a.adds = false;
  for (const std::uint32_t packets : {1u, 5u}) {  // of several the first is not acknowledged by itself
    const std::uint32_t queue = packets;
    bench.connect(queue);
    for (Side* side : {&bench.a, &bench.b}) side->registers.reported.clear();
    bench.b.post_accumulate(bench.a.base + Side::data, remote, {bench.b.base + Side::data, key, 256 * packets},
                            {128, 128, 0, 0, element_of(ElementType::fp32), 0}, queue);
    bench.b.ring(queue);
    bench.settle();
    const auto done = bench.b.completions();
    REQUIRE(done.size() == 1);
    REQUIRE(syndrome_of(done[0]) == NicSyndrome::remote_operation);
    REQUIRE(bench.b.has_reported("NIC 0 has refused"));
    REQUIRE(bench.a.has_reported("near-memory compute is off"));
    REQUIRE(bench.a.state(queue) == error_state);
  }
}

TEST_CASE("a flag behind an accumulate arrives behind its sums") {
  Sums sums;
  sums.fill(ElementType::fp32);
  const std::uint32_t flag = sums.bench.b.region(Side::data + 0x10000, 8);
  sums.bench.a.post_accumulate(sums.there(), sums.remote, {sums.here(), sums.key, 0x4000},
                               {0x40, 0x40, 0, 0, element_of(ElementType::fp32), 0});
  sums.bench.a.post_inline(sums.there() + 0x10000, flag, {1});
  sums.bench.a.ring();
  sums.bench.settle();
  REQUIRE(sums.bench.a.completions().size() == 2);
  const auto& arrivals = sums.bench.b.memory.arrivals();
  REQUIRE(arrivals.back().extension.operation == Operation::store);
  for (std::size_t i = 0; i + 1 < arrivals.size(); ++i) REQUIRE(arrivals[i].extension.operation == Operation::update);
}

}  // namespace t3vp::test::accumulate_test
