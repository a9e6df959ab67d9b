#include <catch2/catch.hpp>
#include <functional>

#include "compute/kernel_registry.h"
#include "compute/kernel_run.h"
#include "gemm_case.h"
#include "registers/signals.h"
#include "ring_case.h"
#include "t3/check.h"
#include "t3/row_operations.h"

namespace t3vp::test::bad_packet_test {

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
      mistake("kernel 0x00000000: one of", &P::kernel, 0),
      mistake("kernel 0x00000006: one of", &P::kernel, 6),
      mistake("(gemm), ", &P::kernel, t3_kernel_handle("Gemm")),
      mistake("completion_signal 512", &P::completion_signal, 512),
      mistake("completion_signal 4294967294", &P::completion_signal, most32 - 1),
      mistake("arguments 0x80", &P::arguments, 0x80),
      mistake("arguments 0x8000000000000000", &P::arguments, std::uint64_t{1} << 63),
      mistake("reserved byte 0x1", &P::reserved, 1),
      mistake("reserved byte 0x80", &P::reserved, 0x80),
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
      mistake("does not end in memory", &P::out, ClusterBench::memory_bytes - 64 * 96 + 32),
      mistake("does not end in memory", &P::out, address_map::on_gpu(1, 0x90000)),
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
      mistake("does not end in memory", &P::a, ClusterBench::memory_bytes - 64 * 96 + 32),
      mistake("does not end in memory", &P::b, ClusterBench::memory_bytes - 48 * 96 + 32),
      mistake("does not end in memory", &P::a, address_map::on_gpu(1, 0x10000)),
      // Slabs whose number wraps to none.
      {"k 4294967295", [](P& p) { p.flags = P::transpose_a, p.k = most32; }},
      {"k 1073741825", [](P& p) { p.flags = P::transpose_a, p.k = (1u << 30) + 1; }},
      {"does not end in memory", [](P& p) { p.flags = P::transpose_a, p.lda = 128, p.k = 1u << 30; }},
      {"does not end in memory", [](P& p) { p.ldb = 0xFFFFFFE0; }},
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
      mistake("batch strides 64, 0, 0 of no batch", &P::a_batch, 64),
      mistake("batch strides 0, 64, 0 of no batch", &P::b_batch, 64),
      mistake("batch strides 0, 0, 64 of no batch", &P::out_batch, 64),
      {"batch strides 16, 0, 0: multiples", [](P& p) { p.batches = 1, p.a_batch = 16; }},
      {"batch strides 0, 8, 0: multiples", [](P& p) { p.batches = 1, p.b_batch = 8; }},
      {"batch strides 0, 0, 40: multiples", [](P& p) { p.batches = 1, p.out_batch = 40; }},
      {"a batch of 2 with flags 0x1", [](P& p) { p.batches = 2, p.workgroups = 8, p.flags = P::update; }},
      {"a batch of 2 with flags 0x2", [](P& p) { p.batches = 2, p.workgroups = 8, p.flags = P::uncached; }},
      {"out 0x90000 of 281466384685120 bytes does not end", [](P& p) { p.batches = 65535, p.out_batch = 0xFFFFFFE0; }},
      {"a 0x10000 of 281466384685120 bytes does not end", [](P& p) { p.batches = 65535, p.a_batch = 0xFFFFFFE0; }},
      {"b 0x50000 of 281466384683584 bytes does not end", [](P& p) { p.batches = 65535, p.b_batch = 0xFFFFFFE0; }},
  };
  return mistakes;
}

const std::vector<Mistake>& mistakes_of_rings() {
  static const std::vector<Mistake> mistakes = {
      mistake("gpus 0: a ring of 2 to 65536 expected", &P::gpus, 0),
      mistake("gpus 1: a ring of 2 to 65536 expected", &P::gpus, 1),
      mistake("gpu 2: 0 to 1, a position in the ring of 2, expected", &P::gpu, 2),
      mistake("gpus 4294967295: a ring of 2", &P::gpus, most32),
      mistake("0 workgroups", &P::workgroups, 0),
      mistake("4 workgroups", &P::workgroups, 4),
      {"2 workgroups", [](P& p) { p.max_compute_units = 1, p.workgroups = 2; }},
      mistake("signals 511", &P::signal_base, 511),
      mistake("signals 4294967295", &P::signal_base, most32),
      mistake("peer_out", &P::peer_out, 0x10010),
      mistake("peer_out 0x1fffe0 of 6144 bytes does not", &P::peer_out, ClusterBench::memory_bytes - 32),
      mistake("peer_out 0x1000001fe820 of 6144 bytes does not", &P::peer_out,
              address_map::on_gpu(1, ClusterBench::memory_bytes - 64 * 96 + 32)),
      mistake("peer_out 0x1f0000000000 of 6144 bytes does not", &P::peer_out,
              address_map::on_gpu(1, address_map::registers_base)),
      mistake("signal_epoch 18446744073709551614", &P::signal_epoch, ~std::uint64_t{1}),
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
      mistake("with row stride 0, a vector: a matrix", &P::lda, 0),
      mistake("with row stride 100", &P::ldb, 100),
      mistake("b 0x50010", &P::b, 0x50010),
      mistake("c 0x70010", &P::c, 0x70010),
      mistake("with row stride 0, a vector: a matrix", &P::ldc, 0),
      mistake("b 0xffffffffc0 of 96 bytes does not end", &P::b, address_map::hbm_limit - 64),
      mistake("c 0xfffffffff8", &P::c, address_map::hbm_limit - 8),
      mistake("a 0x1fe820 of 6144 bytes does not end", &P::a, ClusterBench::memory_bytes - 64 * 96 + 32),
      mistake("b 0x1fffc0 of 96 bytes does not end", &P::b, ClusterBench::memory_bytes - 64),
      mistake("b 0x100000050000 of 96 bytes does not end", &P::b, address_map::on_gpu(1, 0x50000)),
      {"does not end", [](P& p) { p.m = 1u << 30, p.ldo = p.lda = p.ldc = 0xFFFFFFE0; }},
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
      mistake("does not end in memory, that of GPU 0 from 0x0 to 0x1fffff", &P::out,
              ClusterBench::memory_bytes - 64 * 96),
  };
  return mistakes;
}

/// What the packet's kernel says of its operands, where every GPU can be reached.
std::string check_operands(const KernelPacket& packet, const ComputeParameters& parameters, std::uint16_t gpu,
                           bool functional) {
  const t3_device device = device_of(parameters);
  t3_check check{};
  check.device = &device;
  check.gpu = gpu;
  check.functional = functional;
  check.memory_bytes = parameters.memory_bytes;
  check.counters = registers::Signals::value_count;
  check.reaches = [](void*, std::uint64_t) { return true; };
  const t3_kernel* const kernel = KernelRegistry(t3_kernels).find(packet.kernel);
  REQUIRE(kernel != nullptr);
  return kernel->check(&check, &packet) ? "" : check.text;
}

KernelPacket good_gemm(const ComputeParameters& p) { return GemmCase(p, 64, 48, 48, ElementType::fp16).packet; }

KernelPacket good_ring(std::uint32_t kind) {
  const RingCase ring{{64, 48, 32, 32, 1, 96, ElementType::fp16}, 2, 2};
  KernelPacket packet = ring.packet(kind, 0, 0, 0);
  packet.out = 0x90000;
  if (is_staged(packet)) packet.staging = 0x30000;
  return packet;
}

KernelPacket good_rows() {
  KernelPacket packet{};
  packet.kernel = handle::rows;
  packet.operation = static_cast<std::uint8_t>(T3_ROWS_BIAS_DROPOUT_ADD);
  packet.m = 64;
  packet.n = 48;
  packet.a = 0x10000, packet.b = 0x50000, packet.c = 0x70000, packet.out = 0x90000;
  packet.lda = packet.ldc = packet.ldo = 96;
  packet.factor = 0.5f;
  return packet;
}

KernelPacket good_attention() {
  KernelPacket packet{};
  packet.kernel = handle::attention;
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
  REQUIRE(check_operands(good, bench.parameters, 0, true).empty());
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
    REQUIRE(gpu.registers["interrupt"] == 3);
    bench.wait(1);
    REQUIRE(gpu.interrupt.read());
    REQUIRE(gpu.registers.reported.size() == 1);
    REQUIRE(gpu.registers.reported[0].address == address);
    REQUIRE_THAT(gpu.registers.reported[0].text, Catch::Contains(mistake.text));
    REQUIRE(gpu.registers.take_report() == Status::bad_packet);
    REQUIRE(gpu.registers.set("interrupt", 3) == tlm::TLM_OK_RESPONSE);

    gpu.put(bench.memory, bad);
    bench.run(good_gemm(bench.parameters));
    REQUIRE(gpu.error() == Status::ok);
    REQUIRE(gpu.registers["interrupt"] == 3);
    REQUIRE(gpu.cluster.finished_workgroups() == workgroups + 4);
    gpu.registers.reported.clear();
    gpu.registers.set("interrupt", 3);
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
  backward.b_batch = 64 * 96, backward.out_batch = 64 * 288;
  REQUIRE(check_operands(backward, bench.parameters, 0, false).empty());
  const std::vector<Mistake> mistakes = {mistake("b 64 and out 288", &P::ldb, 64), mistake("out 96", &P::ldo, 96),
                                         mistake("b 0x50008", &P::b, 0x50008), mistake("c 0x70008", &P::c, 0x70008),
                                         mistake("end in memory", &P::c, address_map::hbm_limit - 64)};
  for (const Mistake& mistake : mistakes) {
    KernelPacket bad = backward;
    mistake.make(bad);
    REQUIRE_THAT(check_operands(bad, bench.parameters, 0, false), Catch::Contains(mistake.text));
  }
}

TEST_CASE("malformed ring packets are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  for (const std::uint32_t kind : {handle::ring_reduce_scatter, handle::ring_all_gather}) {
    check_refused(bench, good_ring(kind), mistakes_of_all_kernels());
    check_refused(bench, good_ring(kind), mistakes_of_rings());
  }
  check_refused(
      bench, good_ring(handle::ring_reduce_scatter),
      {mistake("staging", &P::staging, 0x90008), mistake("peer_staging", &P::peer_staging, 0x90008),
       mistake("staging 0x1fe820 of 6144 bytes does not", &P::staging, ClusterBench::memory_bytes - 64 * 96 + 32),
       mistake("staging 0x100000090000 of 6144 bytes does not", &P::staging, address_map::on_gpu(1, 0x90000)),
       mistake("peer_staging 0x1000001fffe0 of 6144 bytes does not", &P::peer_staging,
               address_map::on_gpu(1, ClusterBench::memory_bytes - 32))});
}

TEST_CASE("a reduction with near-memory updates and an all-gather need no staging buffers") {
  const ComputeParameters p = ClusterBench::small();
  for (KernelPacket packet : {good_ring(handle::ring_reduce_scatter), good_ring(handle::ring_all_gather)}) {
    if (packet.kernel == handle::ring_reduce_scatter) packet.flags = KernelPacket::near_memory;
    packet.staging = packet.peer_staging = 0;
    REQUIRE(check_operands(packet, p, 0, true).empty());
    packet.staging = 0x30000;
    REQUIRE_THAT(check_operands(packet, p, 0, true), Catch::StartsWith("b or staging 0x30000: 0 expected"));
    packet.staging = 0, packet.peer_staging = address_map::on_gpu(1, 0x30000);
    REQUIRE_THAT(check_operands(packet, p, 0, true), Catch::StartsWith("c or peer_staging 0x100000030000: 0 expected"));
  }
}

TEST_CASE("matrices may end with memory, and their last row before its stride") {
  ClusterBench bench(ClusterBench::small());
  const std::uint64_t end = ClusterBench::memory_bytes;
  KernelPacket gemm = good_gemm(bench.parameters);
  gemm.lda = gemm.ldb = gemm.ldo = 4096;
  gemm.a = end - 63 * 4096 - 96 - 192, gemm.b = end - 47 * 4096 - 96 - 192, gemm.out = end - 63 * 4096 - 96 - 96;
  REQUIRE(check_operands(gemm, bench.parameters, 0, true).empty());  // beside each other in the same rows
  for (const auto& [address, rows] : {std::pair{&P::a, 64}, std::pair{&P::b, 48}, std::pair{&P::out, 64}}) {
    KernelPacket beyond = gemm;
    beyond.*address = end - static_cast<std::uint64_t>(rows - 1) * 4096 - 96;
    REQUIRE(check_operands(beyond, bench.parameters, 0, true).empty());
    beyond.*address += 32;
    REQUIRE_THAT(check_operands(beyond, bench.parameters, 0, true), Catch::Contains("does not end in memory"));
  }
  KernelPacket ring = good_ring(handle::ring_reduce_scatter);
  ring.out = ring.peer_out = end - 2 * 64 * 96, ring.staging = ring.peer_staging = end - 64 * 96;
  ring.peer_out = address_map::on_gpu(1, ring.peer_out), ring.peer_staging = address_map::on_gpu(1, ring.peer_staging);
  REQUIRE(check_operands(ring, bench.parameters, 0, true).empty());
  std::swap(ring.out, ring.staging);
  std::swap(ring.peer_out, ring.peer_staging);
  REQUIRE(check_operands(ring, bench.parameters, 0, true).empty());
}

TEST_CASE(
    "what a kernel writes must not overlap what it reads or writes besides, but a rows kernel may work in place") {
  const ComputeParameters p = ClusterBench::small();
  const auto refused = [&](const KernelPacket& good, const char* text, auto change) {
    REQUIRE(check_operands(good, p, 0, true).empty());
    KernelPacket bad = good;
    change(bad);
    CHECK_THAT(check_operands(bad, p, 0, true), Catch::Contains(text));
  };
  const auto fine = [&](const KernelPacket& good, auto change) {
    KernelPacket packet = good;
    change(packet);
    CHECK(check_operands(packet, p, 0, true) == "");
  };
  const KernelPacket gemm = good_gemm(p);  // a 64 x 48, b 48 x 48, out 64 x 48 fp16, rows without gaps
  refused(gemm, "out at 0x10000 to 0x117ff overlaps a at 0x10000 to 0x117ff", [](P& k) { k.out = k.a; });
  refused(gemm, "overlaps b at 0x50000", [](P& k) { k.out = k.b + 47 * 96 + 64; });
  refused(gemm, "overlaps a at 0x10000", [](P& k) { k.out = k.a - 64 * 96 + 32; });
  fine(gemm, [](P& k) { k.out = k.a - 64 * 96; });
  fine(gemm, [](P& k) { k.out = k.a + 64 * 96; });
  fine(gemm, [](P& k) { k.lda = k.ldo = 192, k.out = k.a + 96; });  // the right half of the same rows
  refused(gemm, "overlaps a", [](P& k) { k.lda = k.ldo = 192, k.out = k.a + 64; });
  refused(gemm, "overlaps a", [](P& k) { k.lda = k.ldo = 192, k.out = k.a + 128; });
  KernelPacket batch = gemm;
  batch.batches = 3, batch.workgroups *= 3, batch.a_batch = batch.out_batch = 64 * 96;
  refused(batch, "matrix 1 of out at 0x90000 overlaps the first", [](P& k) { k.out_batch = 0; });
  refused(batch, "matrix 1 of out at 0x90020 overlaps the first", [](P& k) { k.out_batch = 32; });
  refused(batch, "overlaps a", [](P& k) { k.out = k.a + 2 * 64 * 96; });
  fine(batch, [](P& k) { k.out = k.a + 3 * 64 * 96; });
  fine(batch, [](P& k) { k.ldo = 288, k.out_batch = 96; });  // heads beside each other
  refused(batch, "matrix 1 of out", [](P& k) { k.ldo = 288, k.out_batch = 64; });

  const KernelPacket ring = good_ring(handle::ring_reduce_scatter);
  refused(ring, "staging at 0x90000 to 0x917ff overlaps out", [](P& k) { k.staging = k.out; });
  refused(ring, "staging at 0x90c00", [](P& k) { k.staging = k.out + 3072; });
  refused(ring, "peer_staging at 0x100000010000", [](P& k) { k.peer_staging = k.peer_out; });

  const KernelPacket rows = good_rows();  // out = dropout(a + vector b) + c
  fine(rows, [](P& k) { k.out = k.a; });
  fine(rows, [](P& k) { k.out = k.c; });
  refused(rows, "out at 0x10060", [](P& k) { k.out = k.a + 96; });
  refused(rows, "overlaps b at 0x50000", [](P& k) { k.out = k.b; });
  refused(rows, "overlaps a", [](P& k) { k.out = k.a, k.lda = 192; });
  KernelPacket adam = rows;
  adam.operation = static_cast<std::uint8_t>(T3_ROWS_ADAM), adam.ldb = 96, adam.b = 0x50000;
  fine(adam, [](P& k) { k.out = k.a; });
  refused(adam, "b at 0x90000", [](P& k) { k.b = k.out; });
  refused(adam, "overlaps c", [](P& k) { k.b = k.c; });

  const KernelPacket attention = good_attention();
  refused(attention, "out at 0x10000", [](P& k) { k.out = k.a; });
  refused(attention, "matrix 1 of out", [](P& k) { k.out_batch = 0; });
}

TEST_CASE("what means nothing to a kernel is zero in its packet") {
  const ComputeParameters p = ClusterBench::small();
  const auto refused = [&](const KernelPacket& good, std::initializer_list<Mistake> mistakes) {
    REQUIRE(check_operands(good, p, 0, true).empty());
    for (const Mistake& mistake : mistakes) {
      KernelPacket bad = good;
      mistake.make(bad);
      CHECK_THAT(check_operands(bad, p, 0, true), Catch::Contains(mistake.text));
    }
  };
  refused(good_gemm(p),
          {mistake("flags 0x8: 0x8 mean nothing", &P::flags, P::near_memory),
           mistake("c or peer_staging 0x20", &P::c, 32), mistake("ldc or", &P::ldc, 32),
           mistake("operation 0x1", &P::operation, 1), mistake("signal_epoch or factor 0x1", &P::signal_epoch, 1)});
  for (const std::uint32_t kind : {handle::ring_reduce_scatter, handle::ring_all_gather})
    refused(good_ring(kind),
            {mistake("flags 0x1: 0x1 mean", &P::flags, P::update), mistake("flags 0x4", &P::flags, P::transpose_b),
             mistake("lda 0x60", &P::lda, 96), mistake("ldb 0x60", &P::ldb, 96), mistake("k or seed", &P::k, 1),
             mistake("first_workgroup", &P::first_workgroup, 1), mistake("a_batch", &P::a_batch, 32),
             mistake("out_batch", &P::out_batch, 32), mistake("batches", &P::batches, 3),
             mistake("operation", &P::operation, 1)});
  refused(good_ring(handle::ring_all_gather), {mistake("flags 0x8", &P::flags, P::near_memory)});
  refused(good_rows(), {mistake("workgroups", &P::workgroups, 1), mistake("first_workgroup", &P::first_workgroup, 1),
                        mistake("batches", &P::batches, 2), mistake("b_batch", &P::b_batch, 32)});
  refused(good_attention(),
          {mistake("b or staging", &P::b, 32), mistake("c or", &P::c, 32), mistake("ldb", &P::ldb, 96),
           mistake("k or seed", &P::k, 5), mistake("ldc or", &P::ldc, 96)});
}

TEST_CASE("a ring packet whose receiver is its own GPU ends with no_peer") {
  ClusterBench bench(ClusterBench::small(), true, 1, 3);
  const auto refused = [&](std::uint32_t kind, std::uint64_t P::*address) {
    KernelPacket packet = good_ring(kind);
    packet.*address = 0x60000;
    bench.run(packet);
    REQUIRE(bench.gpu().error() == Status::no_peer);
    REQUIRE_THAT(bench.gpu().registers.reported.back().text, Catch::Contains("is this GPU's own"));
    REQUIRE(bench.gpu().registers.take_report() == Status::no_peer);
    REQUIRE(bench.gpu().registers.set("interrupt", 3) == tlm::TLM_OK_RESPONSE);
  };
  refused(handle::ring_all_gather, &P::peer_out);
  refused(handle::ring_reduce_scatter, &P::peer_out);
  refused(handle::ring_reduce_scatter, &P::peer_staging);
  KernelPacket packet = good_ring(handle::ring_reduce_scatter);
  packet.peer_staging = address_map::on_gpu(2, 0x90000);
  bench.run(packet);
  REQUIRE(bench.gpu().error() == Status::bad_packet);
  REQUIRE_THAT(bench.gpu().registers.reported.back().text, Catch::Contains("both of one GPU expected"));
}

TEST_CASE("a ring packet whose receiver cannot be reached ends with no_peer") {
  ClusterBench bench(ClusterBench::small(), true, 1, 3);
  for (const std::uint64_t gpu : {3u, 0xFFFFu}) {
    KernelPacket packet = good_ring(handle::ring_all_gather);
    packet.peer_out = address_map::on_gpu(gpu, 0x90000);
    bench.run(packet);
    REQUIRE(bench.gpu().error() == Status::no_peer);
    REQUIRE(bench.gpu().registers.take_report() == Status::no_peer);
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
  const KernelPacket good[] = {good_gemm(bench.parameters), good_ring(handle::ring_reduce_scatter),
                               good_ring(handle::ring_all_gather), good_rows(), good_attention()};
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
  REQUIRE(ran > 500);
}

}  // namespace t3vp::test::bad_packet_test
