#include <catch2/catch.hpp>
#include <functional>

#include "compute/packet_check.h"
#include "compute/row_operations.h"
#include "gemm_case.h"
#include "ring_case.h"

using namespace t3vp;

namespace {

struct Mistake {
  const char* text;  ///< part of what the error log says
  std::function<void(KernelPacket&)> make;
};

template <typename Value>
Mistake mistake(const char* text, Value KernelPacket::*field, std::uint64_t value) {
  return {text, [=](KernelPacket& p) { p.*field = static_cast<Value>(value); }};
}

using P = KernelPacket;
constexpr std::uint64_t most32 = 0xFFFFFFFF;

const std::vector<Mistake>& mistakes_of_all_kernels() {
  static const std::vector<Mistake> mistakes = {
      mistake("kind 0", &P::kind, 0),
      mistake("kind 6", &P::kind, 6),
      mistake("element 3", &P::element, 3),
      mistake("flags 0x20", &P::flags, 0x20),
      mistake("output 0 x", &P::m, 0),
      mistake("x 0 in tiles", &P::n, 0),
      mistake("tiles of 0 x", &P::tile_rows, 0),
      mistake("tiles of", &P::tile_columns, 0),
      mistake("tiles of 1025 x", &P::tile_rows, 1025),
      mistake("x 65535", &P::tile_columns, 65535),
      mistake("out 0x90010", &P::out, 0x90010),
      mistake("row stride 100", &P::ldo, 100),
      mistake("row stride 32", &P::ldo, 32),
      // Tile counts that overflow 32 bits.
      {"tiles of 1 x 1",
       [](P& p) { p.m = p.n = 0x10000, p.ldo = 0x20000, p.tile_rows = p.tile_columns = 1, p.wavefronts = 1; }},
      {"tiles of", [](P& p) { p.m = most32; }},
      {"x 4294967295", [](P& p) { p.n = most32; }},
      mistake("does not end in memory", &P::out, address_map::hbm_limit - 64),
      mistake("does not end in memory", &P::out, address_map::registers_base),
  };
  return mistakes;
}

const std::vector<Mistake>& mistakes_of_gemm() {
  static const std::vector<Mistake> mistakes = {
      mistake("k 0", &P::k, 0),
      mistake("row strides of a 32", &P::lda, 32),
      mistake("and b 32", &P::ldb, 32),
      {"and b 64", [](P& p) { p.flags = P::transpose_b, p.ldb = 64; }},
      mistake("a 0x10008", &P::a, 0x10008),
      mistake("b 0x50010", &P::b, 0x50010),
      mistake("does not end in memory", &P::a, address_map::hbm_limit - 64),
      mistake("does not end in memory", &P::b, address_map::hbm_limit - 64),
      mistake("row strides 104", &P::lda, 104),
      mistake("and 104", &P::ldb, 104),
      mistake("0 wavefronts", &P::wavefronts, 0),
      mistake("9 wavefronts", &P::wavefronts, 9),
      mistake("3 wavefronts", &P::wavefronts, 3),
      mistake("workgroups 5", &P::workgroups, 5),
      mistake("workgroups 0", &P::workgroups, 0),
      mistake("from 4", &P::first_workgroup, 4),
      mistake("k 4294967295", &P::k, most32),
      {"and b 96", [](P& p) { p.flags = P::transpose_a, p.lda = 96; }},
      mistake("workgroups 4 from 0: all 8", &P::batches, 2),
      mistake("batch strides 16", &P::a_batch, 16),
      mistake("batch strides 0, 8", &P::b_batch, 8),
      mistake("batch strides 0, 0, 40", &P::out_batch, 40),
      {"a batch of 2 with flags 0x1", [](P& p) { p.batches = 2, p.workgroups = 8, p.flags = P::update; }},
      {"a batch of 2 with flags 0x2", [](P& p) { p.batches = 2, p.workgroups = 8, p.flags = P::uncached; }},
      {"of 65535 matrices does not end", [](P& p) { p.batches = 65535, p.out_batch = 0xFFFFFFE0; }},
      {"or b 0x50000 does not end", [](P& p) { p.batches = 65535, p.a_batch = 0xFFFFFFE0; }},
      {"or b 0x50000 does not end", [](P& p) { p.batches = 65535, p.b_batch = 0xFFFFFFE0; }},
  };
  return mistakes;
}

const std::vector<Mistake>& mistakes_of_rings() {
  static const std::vector<Mistake> mistakes = {
      mistake("GPU 0 of 0", &P::gpus, 0),
      mistake("GPU 0 of 1", &P::gpus, 1),
      mistake("GPU 2 of 2", &P::gpu, 2),
      mistake("of 4294967295", &P::gpus, most32),
      mistake("0 workgroups", &P::workgroups, 0),
      mistake("4 workgroups", &P::workgroups, 4),
      {"2 workgroups", [](P& p) { p.max_compute_units = 1, p.workgroups = 2; }},
      mistake("signals 511", &P::signal_base, 511),
      mistake("signals 4294967295", &P::signal_base, most32),
      mistake("peer_out", &P::peer_out, 0x10010),
  };
  return mistakes;
}

const std::vector<Mistake>& mistakes_of_rows() {
  static const std::vector<Mistake> mistakes = {
      mistake("rows operation 0", &P::operation, 0),
      mistake("rows operation 12", &P::operation, 12),
      mistake("flags 0x1", &P::flags, P::update),
      mistake("a 0x10010", &P::a, 0x10010),
      mistake("with row stride 64", &P::lda, 64),
      mistake("with row stride 0", &P::lda, 0),
      mistake("with row stride 100", &P::ldb, 100),
      mistake("b 0x50010", &P::b, 0x50010),
      mistake("c 0x70010", &P::c, 0x70010),
      mistake("with row stride 0", &P::ldc, 0),
      mistake("b 0xffffffffc0 does not end", &P::b, address_map::hbm_limit - 64),
      mistake("c 0xfffffffff8", &P::c, address_map::hbm_limit - 8),
      {"factor 0", [](P& p) { p.factor = 0; }},
      {"factor 1.5", [](P& p) { p.factor = 1.5; }},
  };
  return mistakes;
}

const std::vector<Mistake>& mistakes_of_attention() {
  static const std::vector<Mistake> mistakes = {
      mistake("attention pass 0", &P::operation, 0),
      mistake("attention pass 4", &P::operation, 4),
      mistake("attention pass 2: it computes no data", &P::operation, 2),
      mistake("attention pass 3: it computes no data", &P::operation, 3),
      mistake("flags 0x2", &P::flags, P::uncached),
      mistake("row strides of a 128", &P::lda, 128),
      mistake("a 0x10010", &P::a, 0x10010),
      mistake("row strides 300", &P::lda, 300),
      mistake("does not end in memory", &P::a, address_map::hbm_limit - 64),
      mistake("workgroups 5", &P::workgroups, 5),
      mistake("batch strides 8", &P::a_batch, 8),
      mistake("of 2 matrices does not end", &P::out, address_map::hbm_limit - 64 * 96),
  };
  return mistakes;
}

KernelPacket good_gemm(const ComputeParameters& p) { return GemmCase(p, 64, 48, 48, ElementType::fp16).packet; }

KernelPacket good_ring(KernelKind kind) {
  const RingCase ring{{64, 48, 32, 32, 1, 96, ElementType::fp16}, 2, 2};
  KernelPacket packet = ring.packet(kind, 0, 0, 0);
  packet.out = 0x90000;
  return packet;
}

KernelPacket good_rows() {
  KernelPacket packet{};
  packet.kind = KernelKind::rows;
  packet.operation = static_cast<std::uint8_t>(RowOperation::bias_dropout_add);
  packet.m = 64;
  packet.n = 48;
  packet.a = 0x10000, packet.b = 0x50000, packet.c = 0x70000, packet.out = 0x90000;
  packet.lda = packet.ldc = packet.ldo = 96;
  packet.factor = 0.5f;
  return packet;
}

KernelPacket good_attention() {
  KernelPacket packet{};
  packet.kind = KernelKind::attention;
  packet.operation = static_cast<std::uint8_t>(AttentionPass::forward);
  packet.m = 64;
  packet.n = 48;
  packet.a = 0x10000, packet.out = 0x90000;
  packet.lda = 288, packet.ldo = 96;
  packet.batches = 2;
  packet.a_batch = 64 * 288, packet.out_batch = 64 * 96;
  packet.tile_rows = packet.tile_columns = 32;
  packet.workgroups = 4;
  return packet;
}

/// Each packet is refused with an error that says why, at once, and the good packet behind it runs.
void check_refused(ClusterBench& bench, const KernelPacket& good, const std::vector<Mistake>& mistakes) {
  ClusterUnderTest& gpu = bench.gpu();
  REQUIRE(check_packet(good, bench.parameters, true).empty());
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.text);
    KernelPacket bad = good;
    mistake.make(bad);
    const std::uint64_t completed = gpu.completed(), workgroups = gpu.cluster.finished_workgroups();
    const std::uint64_t address = gpu.here(ClusterUnderTest::queue_base + gpu.submitted % 4 * sizeof bad);
    const Picoseconds time = bench.run(bad);
    REQUIRE(gpu.error() == Status::bad_packet);
    REQUIRE(time == bench.memory.latency);
    REQUIRE(gpu.completed() == completed + 1);
    REQUIRE(gpu.cluster.finished_workgroups() == workgroups);
    REQUIRE(gpu.registers.read("interrupt") == 2);
    bench.wait(1);
    REQUIRE(gpu.interrupt.read());
    REQUIRE(gpu.registers.driver.reported.size() == 1);
    REQUIRE(gpu.registers.driver.reported[0].address == address);
    REQUIRE_THAT(gpu.registers.driver.reported[0].text, Catch::Contains(mistake.text));
    REQUIRE(gpu.registers.driver.take_report() == Status::bad_packet);
    REQUIRE(gpu.registers.write("interrupt", 2) == tlm::TLM_OK_RESPONSE);

    gpu.put(bench.memory, bad);
    bench.run(good_gemm(bench.parameters));
    REQUIRE(gpu.error() == Status::ok);
    REQUIRE(gpu.registers.read("interrupt") == 3);
    REQUIRE(gpu.cluster.finished_workgroups() == workgroups + 4);
    gpu.registers.driver.reported.clear();
    gpu.registers.write("interrupt", 3);
  }
}

}  // namespace

TEST_CASE("malformed GEMM packets are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  check_refused(bench, good_gemm(bench.parameters), mistakes_of_all_kernels());
  check_refused(bench, good_gemm(bench.parameters), mistakes_of_gemm());
}

TEST_CASE("malformed packets of rows and attention are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  check_refused(bench, good_rows(), mistakes_of_rows());
  check_refused(bench, good_attention(), mistakes_of_attention());
  KernelPacket backward = good_attention();
  backward.operation = static_cast<std::uint8_t>(AttentionPass::backward_q);
  backward.b = 0x50000, backward.c = 0x70000;
  backward.ldb = 96, backward.ldo = 288;
  REQUIRE(check_packet(backward, bench.parameters, false).empty());
  const std::vector<Mistake> mistakes = {mistake("b 64 and out 288", &P::ldb, 64), mistake("out 96", &P::ldo, 96),
                                         mistake("b 0x50008", &P::b, 0x50008), mistake("c 0x70008", &P::c, 0x70008),
                                         mistake("end in memory", &P::c, address_map::hbm_limit - 64)};
  for (const Mistake& mistake : mistakes) {
    KernelPacket bad = backward;
    mistake.make(bad);
    REQUIRE_THAT(check_packet(bad, bench.parameters, false), Catch::Contains(mistake.text));
  }
}

TEST_CASE("malformed ring packets are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  for (const KernelKind kind : {KernelKind::ring_reduce_scatter, KernelKind::ring_all_gather}) {
    check_refused(bench, good_ring(kind), mistakes_of_all_kernels());
    check_refused(bench, good_ring(kind), mistakes_of_rings());
  }
  check_refused(bench, good_ring(KernelKind::ring_reduce_scatter),
                {mistake("staging", &P::staging, 0x90008), mistake("peer_staging", &P::peer_staging, 0x90008)});
}

TEST_CASE("a reduction with near-memory updates and an all-gather need no staging buffers") {
  const ComputeParameters p = ClusterBench::small();
  for (KernelPacket packet : {good_ring(KernelKind::ring_reduce_scatter), good_ring(KernelKind::ring_all_gather)}) {
    packet.flags = KernelPacket::near_memory;
    packet.staging = packet.peer_staging = 1;
    REQUIRE(check_packet(packet, p, true).empty());
  }
}

TEST_CASE("random packets never stop the platform") {
  ClusterBench bench(ClusterBench::small(), true, 1, 4);
  ClusterUnderTest& gpu = bench.gpu();
  bench.memory.judge = [](const LoggedAccess& access) {
    return access.operation == Operation::wait ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  std::mt19937 random(15);
  std::uint64_t ran = 0;
  const KernelPacket good[] = {good_gemm(bench.parameters), good_ring(KernelKind::ring_reduce_scatter),
                               good_ring(KernelKind::ring_all_gather), good_rows(), good_attention()};
  for (int i = 0; i < 5000; ++i) {
    KernelPacket packet = good[i % 5];
    std::array<unsigned char, sizeof packet> bytes;
    std::memcpy(bytes.data(), &packet, sizeof packet);
    for (unsigned changes = 1 + random() % 2; changes > 0; --changes)
      bytes[random() % bytes.size()] ^= static_cast<unsigned char>(1u << random() % 8);
    std::memcpy(&packet, bytes.data(), sizeof packet);
    const std::uint64_t tiles = std::uint64_t{packet.m} * packet.n / (packet.tile_rows * packet.tile_columns + 1u);
    if (packet.m > 10'000 || packet.n > 10'000 || packet.k > 10'000 || tiles > 1000) continue;  // would take too long
    bench.memory.log.clear();
    bench.run(packet);
    if (gpu.error() != Status::bad_packet) ++ran;
  }
  REQUIRE(ran > 800);
}
