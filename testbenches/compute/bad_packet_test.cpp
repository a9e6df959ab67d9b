#include <catch2/catch.hpp>

#include "bad_operands.h"

namespace t3vp::test::bad_packet_test {

using namespace compute;

namespace {

constexpr std::uint64_t most32 = 0xFFFFFFFF;

/// Mistakes in the header, whatever the kernel.
template <typename Packet>
std::vector<Mistake<Packet>> mistakes_of_headers() {
  constexpr std::uint64_t queue = ClusterUnderTest::queue_base, memory = ClusterBench::memory_bytes;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return Mistake<Packet>{text, [=](Packet& p) {
                             using Value = std::remove_reference_t<decltype(p.header.*field)>;
                             p.header.*field = static_cast<Value>(value);
                           }};
  };
  using H = t3_kernel_packet;
  return {wrong("kernel 0x00000000: one of", &H::kernel, 0),
          wrong("kernel 0x00000006: one of", &H::kernel, 6),
          wrong("(gemm), ", &H::kernel, t3_kernel_handle("Gemm")),
          wrong("flags 0x8: 0x8 mean nothing", &H::flags, 8),
          wrong("flags 0x80000001: 0x80000000 mean nothing", &H::flags, 0x80000001),
          wrong("completion_signal 0: a counter below 512 that is not the barrier's, 0, or", &H::completion_signal, 0),
          wrong("completion_signal 512", &H::completion_signal, 512),
          wrong("completion_signal 4294967294", &H::completion_signal, most32 - 1),
          wrong("argument_bytes 1: the ", &H::argument_bytes, 1),
          wrong("argument_bytes 77: the ", &H::argument_bytes, 77),
          wrong("argument_bytes 4294967295: the ", &H::argument_bytes, most32),
          wrong("arguments 0x1000010: a multiple of 32", &H::arguments, 0x1000010),
          wrong("arguments 0x8000000000000000 of ", &H::arguments, std::uint64_t{1} << 63),
          wrong("arguments 0x1fffe0 of ", &H::arguments, memory - 32),
          wrong("arguments 0x200000 of ", &H::arguments, memory),
          wrong("arguments 0x100000010000 of ", &H::arguments, address_map::on_gpu(1, 0x10000)),
          wrong("arguments 0xf0000000000 of ", &H::arguments, address_map::registers_base),
          wrong("behind the packet in its entry, ", &H::arguments, queue - 32),
          wrong("or outside of the ring at 0x1ffe00 to 0x1fffff, expected", &H::arguments, queue)};
}

/// Mistakes in an output in tiles.
template <typename Packet, typename A>
std::vector<Mistake<Packet>> mistakes_of_outputs() {
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<Packet>(text, field, value);
  };
  return {wrong("element 3", &A::element, 3),
          wrong("output 0 x", &A::m, 0),
          wrong("output 64 x 0: ", &A::n, 0),
          wrong("tiles of 0 x", &A::tile_rows, 0),
          wrong("tiles of", &A::tile_columns, 0),
          wrong("tiles of 1025 x", &A::tile_rows, 1025),
          wrong("x 65535", &A::tile_columns, 65535),
          wrong("out 0x90010", &A::out, 0x90010),
          wrong("row stride 100", &A::ldo, 100),
          wrong("row stride 32", &A::ldo, 32),
          {"output 4294967295 x ", [](Packet& p) { p.m = most32; }},
          {"x 4294967295", [](Packet& p) { p.n = most32; }},
          wrong("does not end in memory", &A::out, address_map::hbm_limit - 64),
          wrong("does not end in memory", &A::out, address_map::registers_base),
          wrong("does not end in memory", &A::out, ClusterBench::memory_bytes - 64 * 96 + 32),
          wrong("does not end in memory", &A::out, address_map::on_gpu(1, 0x90000))};
}

const std::vector<Mistake<GemmPacket>>& mistakes_of_gemm() {
  using A = t3_gemm_arguments;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<GemmPacket>(text, field, value);
  };
  static const std::vector<Mistake<GemmPacket>> mistakes = {
      wrong("k 0", &A::k, 0),
      wrong("row strides of a 32", &A::lda, 32),
      wrong("and b 32", &A::ldb, 32),
      {"and b 64", [](GemmPacket& p) { p.transpose_b = 1, p.ldb = 64; }},
      wrong("a 0x10008", &A::a, 0x10008),
      wrong("b 0x50010", &A::b, 0x50010),
      wrong("does not end in memory", &A::a, address_map::hbm_limit - 64),
      wrong("does not end in memory", &A::b, address_map::hbm_limit - 64),
      wrong("does not end in memory", &A::a, ClusterBench::memory_bytes - 64 * 96 + 32),
      wrong("does not end in memory", &A::b, ClusterBench::memory_bytes - 48 * 96 + 32),
      wrong("does not end in memory", &A::a, address_map::on_gpu(1, 0x10000)),
      // Slabs whose number wraps to none.
      {"k 4294967295", [](GemmPacket& p) { p.transpose_a = 1, p.k = most32; }},
      {"k 1073741825", [](GemmPacket& p) { p.transpose_a = 1, p.k = (1u << 30) + 1; }},
      {"does not end in memory", [](GemmPacket& p) { p.transpose_a = 1, p.lda = 128, p.k = 1u << 30; }},
      {"does not end in memory", [](GemmPacket& p) { p.ldb = 0xFFFFFFE0; }},
      wrong("row strides 104", &A::lda, 104),
      wrong("and 104", &A::ldb, 104),
      wrong("0 wavefronts", &A::wavefronts, 0),
      wrong("9 wavefronts", &A::wavefronts, 9),
      wrong("3 wavefronts", &A::wavefronts, 3),
      {"workgroups 5: the 4 of kernel gemm's", [](GemmPacket& p) { p.header.workgroups = 5; }},
      wrong("first_workgroup 4: one of 4", &A::first_workgroup, 4),
      wrong("update 2: 0 or 1 expected", &A::update, 2),
      wrong("uncached 255", &A::uncached, 255),
      wrong("transpose_a 2", &A::transpose_a, 2),
      wrong("transpose_b 2", &A::transpose_b, 2),
      // Tiles, and workgroups, that overflow 32 bits.
      {"tiles of 1 x 1",
       [](GemmPacket& p) { p.m = p.n = 0x10000, p.ldo = 0x20000, p.tile_rows = p.tile_columns = 1, p.wavefronts = 1; }},
      wrong("k 4294967295", &A::k, most32),
      {"and b 96", [](GemmPacket& p) { p.transpose_a = 1, p.lda = 96; }},
      {"workgroups 4: the 8 of", [](GemmPacket& p) { p.batches = 2, p.out_batch = 64 * 96; }},
      {"a batch of 2 with 4 chunks in turn",
       [](GemmPacket& p) { p.batches = 2, p.out_batch = 64 * 96, p.chunks = 4, p.header.workgroups = 8; }},
      wrong("batch strides 64, 0, 0 of no batch", &A::a_batch, 64),
      wrong("batch strides 0, 64, 0 of no batch", &A::b_batch, 64),
      wrong("batch strides 0, 0, 64 of no batch", &A::out_batch, 64),
      {"batch strides 16, 0, 0: multiples", [](GemmPacket& p) { p.batches = 1, p.a_batch = 16; }},
      {"batch strides 0, 8, 0: multiples", [](GemmPacket& p) { p.batches = 1, p.b_batch = 8; }},
      {"batch strides 0, 0, 40: multiples", [](GemmPacket& p) { p.batches = 1, p.out_batch = 40; }},
      {"a batch of 2 with update 1", [](GemmPacket& p) { p.batches = 2, p.update = 1; }},
      {"a batch of 2 with update 0, uncached 1", [](GemmPacket& p) { p.batches = 2, p.uncached = 1; }},
      {"out 0x90000 of 281466384685120 bytes does not end",
       [](GemmPacket& p) { p.batches = 65535, p.out_batch = 0xFFFFFFE0; }},
      {"a 0x10000 of 281466384685120 bytes does not end",
       [](GemmPacket& p) { p.batches = 65535, p.a_batch = 0xFFFFFFE0; }},
      {"b 0x50000 of 281466384683584 bytes does not end",
       [](GemmPacket& p) { p.batches = 65535, p.b_batch = 0xFFFFFFE0; }},
  };
  return mistakes;
}

const std::vector<Mistake<RingPacket>>& mistakes_of_rings() {
  using A = t3_ring_reduce_scatter_arguments;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<RingPacket>(text, field, value);
  };
  static const std::vector<Mistake<RingPacket>> mistakes = {
      wrong("gpus 0: a ring of 2 to 65536 expected", &A::gpus, 0),
      wrong("gpus 1: a ring of 2 to 65536 expected", &A::gpus, 1),
      wrong("gpu 2: 0 to 1, a position in the ring of 2, expected", &A::gpu, 2),
      wrong("gpus 4294967295: a ring of 2", &A::gpus, most32),
      {"0 workgroups", [](RingPacket& p) { p.header.workgroups = 0; }},
      {"4 workgroups", [](RingPacket& p) { p.header.workgroups = 4; }},
      {"2 workgroups", [](RingPacket& p) { p.header.max_compute_units = 1, p.header.workgroups = 2; }},
      wrong("uncached 2", &A::uncached, 2),
      wrong("signal_base 0, the barrier's: another counter expected", &A::signal_base, 0),
      wrong("signals 511", &A::signal_base, 511),
      wrong("signals 4294967295", &A::signal_base, most32),
      wrong("peer_out", &A::peer_out, 0x10010),
      wrong("peer_out 0x1fffe0 of 6144 bytes does not", &A::peer_out, ClusterBench::memory_bytes - 32),
      wrong("peer_out 0x1000001fe820 of 6144 bytes does not", &A::peer_out,
            address_map::on_gpu(1, ClusterBench::memory_bytes - 64 * 96 + 32)),
      wrong("peer_out 0x1f0000000000 of 6144 bytes does not", &A::peer_out,
            address_map::on_gpu(1, address_map::registers_base)),
      wrong("signal_epoch 18446744073709551614", &A::signal_epoch, ~std::uint64_t{1}),
  };
  return mistakes;
}

const std::vector<Mistake<RowsPacket>>& mistakes_of_rows() {
  using A = t3_rows_arguments;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<RowsPacket>(text, field, value);
  };
  static const std::vector<Mistake<RowsPacket>> mistakes = {
      wrong("rows operation 0", &A::operation, 0),
      wrong("rows operation 12", &A::operation, 12),
      wrong("a 0x10010", &A::a, 0x10010),
      wrong("with row stride 64", &A::lda, 64),
      wrong("with row stride 0, a vector: a matrix", &A::lda, 0),
      wrong("with row stride 100", &A::ldb, 100),
      wrong("b 0x50010", &A::b, 0x50010),
      wrong("c 0x70010", &A::c, 0x70010),
      wrong("with row stride 0, a vector: a matrix", &A::ldc, 0),
      wrong("b 0xffffffffc0 of 96 bytes does not end", &A::b, address_map::hbm_limit - 64),
      wrong("c 0xfffffffff8", &A::c, address_map::hbm_limit - 8),
      wrong("a 0x1fe820 of 6144 bytes does not end", &A::a, ClusterBench::memory_bytes - 64 * 96 + 32),
      wrong("b 0x1fffc0 of 96 bytes does not end", &A::b, ClusterBench::memory_bytes - 64),
      wrong("b 0x100000050000 of 96 bytes does not end", &A::b, address_map::on_gpu(1, 0x50000)),
      {"does not end", [](RowsPacket& p) { p.m = 1u << 30, p.ldo = p.lda = p.ldc = 0xFFFFFFE0; }},
      {"factor 0", [](RowsPacket& p) { p.factor = 0; }},
      {"factor 1.5", [](RowsPacket& p) { p.factor = 1.5; }},
  };
  return mistakes;
}

const std::vector<Mistake<AttentionPacket>>& mistakes_of_attention() {
  using A = t3_attention_arguments;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<AttentionPacket>(text, field, value);
  };
  static const std::vector<Mistake<AttentionPacket>> mistakes = {
      wrong("attention pass 0", &A::pass, 0),
      wrong("attention pass 4", &A::pass, 4),
      wrong("attention pass 2: it computes no data", &A::pass, 2),
      wrong("attention pass 3: it computes no data", &A::pass, 3),
      wrong("row strides of qkv 128", &A::ld_qkv, 128),
      wrong("qkv 0x10010", &A::qkv, 0x10010),
      wrong("row strides 300", &A::ld_qkv, 300),
      wrong("does not end in memory", &A::qkv, address_map::hbm_limit - 64),
      {"workgroups 5", [](AttentionPacket& p) { p.header.workgroups = 5; }},
      wrong("batch strides 8", &A::qkv_batch, 8),
      wrong("does not end in memory, that of GPU 0 from 0x0 to 0x1fffff", &A::out,
            ClusterBench::memory_bytes - 64 * 96),
  };
  return mistakes;
}

/// Each packet is refused with an error that says why, at once, and the good packet behind it runs.
template <typename Packet>
void check_refused(ClusterBench& bench, const Packet& good, const std::vector<Mistake<Packet>>& mistakes) {
  ClusterUnderTest& gpu = bench.gpu();
  REQUIRE(check_operands(good, bench.parameters, 0, true).empty());
  for (const Mistake<Packet>& mistake : mistakes) {
    INFO(mistake.text);
    Packet bad = good;
    mistake.make(bad);
    const std::uint64_t completed = gpu.completed(), workgroups = gpu.cluster.finished_workgroups();
    const std::uint64_t address = gpu.next_entry();
    const Picoseconds time = bench.run(bad);
    REQUIRE(gpu.error() == Status::bad_packet);
    REQUIRE(time == bench.memory.latency);
    REQUIRE(gpu.completed() == completed + 1);
    REQUIRE(gpu.cluster.finished_workgroups() == workgroups);
    REQUIRE((gpu.registers["interrupt"] & 3) == 3);
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
    REQUIRE((gpu.registers["interrupt"] & 3) == 3);
    REQUIRE(gpu.cluster.finished_workgroups() == workgroups + 4);
    gpu.registers.reported.clear();
    gpu.registers.set("interrupt", 3);
  }
}

}  // namespace

TEST_CASE("malformed GEMM packets are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  check_refused(bench, good_gemm(bench.parameters), mistakes_of_headers<GemmPacket>());
  check_refused(bench, good_gemm(bench.parameters), mistakes_of_outputs<GemmPacket, t3_gemm_arguments>());
  check_refused(bench, good_gemm(bench.parameters), mistakes_of_gemm());
}

TEST_CASE("malformed packets of rows and attention are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  check_refused(bench, good_rows(), mistakes_of_headers<RowsPacket>());
  check_refused(bench, good_rows(), mistakes_of_rows());
  check_refused(bench, good_attention(), mistakes_of_outputs<AttentionPacket, t3_attention_arguments>());
  check_refused(bench, good_attention(), mistakes_of_attention());
  AttentionPacket backward = good_attention();
  backward.pass = static_cast<std::uint8_t>(AttentionPass::backward_q);
  backward.gradient = 0x50000, backward.result = 0x70000;
  backward.ld_gradient = 96, backward.ldo = 288;
  backward.gradient_batch = 64 * 96, backward.out_batch = 64 * 288;
  REQUIRE(check_operands(backward, bench.parameters, 0, false).empty());
  using A = t3_attention_arguments;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<AttentionPacket>(text, field, value);
  };
  for (const Mistake<AttentionPacket>& mistake :
       {wrong("gradient 64 and out 288", &A::ld_gradient, 64), wrong("out 96", &A::ldo, 96),
        wrong("gradient 0x50008", &A::gradient, 0x50008), wrong("result 0x70008", &A::result, 0x70008),
        wrong("end in memory", &A::result, address_map::hbm_limit - 64)}) {
    AttentionPacket bad = backward;
    mistake.make(bad);
    REQUIRE_THAT(check_operands(bad, bench.parameters, 0, false), Catch::Contains(mistake.text));
  }
}

TEST_CASE("malformed ring packets are refused one by one and the next good one runs") {
  ClusterBench bench(ClusterBench::small());
  for (const std::uint32_t kind : {handle::ring_reduce_scatter, handle::ring_all_gather}) {
    check_refused(bench, good_ring(kind), mistakes_of_headers<RingPacket>());
    check_refused(bench, good_ring(kind), mistakes_of_outputs<RingPacket, t3_ring_reduce_scatter_arguments>());
    check_refused(bench, good_ring(kind), mistakes_of_rings());
  }
  using A = t3_ring_reduce_scatter_arguments;
  const auto wrong = [](const char* text, auto field, std::uint64_t value) {
    return mistake<RingPacket>(text, field, value);
  };
  check_refused<RingPacket>(
      bench, good_ring(handle::ring_reduce_scatter),
      {wrong("near_memory 2: 0 or 1", &A::near_memory, 2), wrong("staging", &A::staging, 0x90008),
       wrong("peer_staging", &A::peer_staging, 0x90008),
       wrong("staging 0x1fe820 of 6144 bytes does not", &A::staging, ClusterBench::memory_bytes - 64 * 96 + 32),
       wrong("staging 0x100000090000 of 6144 bytes does not", &A::staging, address_map::on_gpu(1, 0x90000)),
       wrong("peer_staging 0x1000001fffe0 of 6144 bytes does not", &A::peer_staging,
             address_map::on_gpu(1, ClusterBench::memory_bytes - 32))});
}

TEST_CASE("a ring packet whose receiver is its own GPU ends with no_peer") {
  ClusterBench bench(ClusterBench::small(), true, 1, 3);
  using A = t3_ring_reduce_scatter_arguments;
  const auto refused = [&](std::uint32_t kind, std::uint64_t A::*address) {
    RingPacket packet = good_ring(kind);
    packet.*address = 0x60000;
    bench.run(packet);
    REQUIRE(bench.gpu().error() == Status::no_peer);
    REQUIRE_THAT(bench.gpu().registers.reported.back().text, Catch::Contains("is this GPU's own"));
    REQUIRE(bench.gpu().registers.take_report() == Status::no_peer);
    REQUIRE(bench.gpu().registers.set("interrupt", 3) == tlm::TLM_OK_RESPONSE);
  };
  refused(handle::ring_all_gather, &A::peer_out);
  refused(handle::ring_reduce_scatter, &A::peer_out);
  refused(handle::ring_reduce_scatter, &A::peer_staging);
  RingPacket packet = good_ring(handle::ring_reduce_scatter);
  packet.peer_staging = address_map::on_gpu(2, 0x90000);
  bench.run(packet);
  REQUIRE(bench.gpu().error() == Status::bad_packet);
  REQUIRE_THAT(bench.gpu().registers.reported.back().text, Catch::Contains("both of one GPU expected"));
}

TEST_CASE("a ring packet whose receiver cannot be reached ends with no_peer") {
  ClusterBench bench(ClusterBench::small(), true, 1, 3);
  for (const std::uint64_t gpu : {3u, 0xFFFFu}) {
    RingPacket packet = good_ring(handle::ring_all_gather);
    packet.peer_out = address_map::on_gpu(gpu, 0x90000);
    bench.run(packet);
    REQUIRE(bench.gpu().error() == Status::no_peer);
    REQUIRE(bench.gpu().registers.take_report() == Status::no_peer);
  }
}

namespace {

/// What becomes of a kernel whose packet was good but for a bit or two.
bool takes_too_long(const EncodedPacket& packet) {
  const t3_kernel* const kernel = KernelRegistry(t3_kernels).find(packet.header.kernel);
  if (kernel == nullptr || kernel->arguments.bytes != packet.arguments.size()) return false;
  ComputeParameters p = ClusterBench::small();
  p.memory_bytes = ClusterBench::memory_bytes;
  if (!check_operands(packet, p, 0, true).empty()) return false;
  std::vector<std::max_align_t> arguments(kernel->arguments.size / sizeof(std::max_align_t) + 1);
  kernel->arguments.read(arguments.data(), packet.arguments.data());
  const t3_device device = device_of(p);
  const t3_launch launch{arguments.data(), packet.header.workgroups, p.compute_units};
  if (kernel->plan(&device, &launch).workgroups > 1000) return true;
  return packet.header.kernel == handle::gemm && t3_gemm_arguments_from(packet.arguments.data()).k > 10'000;
}

}  // namespace

TEST_CASE("random packets never stop the platform") {
  ClusterBench bench(ClusterBench::small(), true, 1, 4);
  ClusterUnderTest& gpu = bench.gpu();
  bench.memory.judge = [](const LoggedAccess& access) {
    return access.operation == Operation::wait ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  std::mt19937 random(15);
  std::uint64_t ran = 0;
  const EncodedPacket good[] = {good_gemm(bench.parameters), good_ring(handle::ring_reduce_scatter),
                                good_ring(handle::ring_all_gather), good_rows(), good_attention()};
  for (int i = 0; i < 5000; ++i) {
    EncodedPacket packet = good[i % 5];
    packet.header.arguments = gpu.next_entry() + T3_KERNEL_PACKET_BYTES;
    unsigned char header[T3_KERNEL_PACKET_BYTES];
    t3_kernel_packet_to(&packet.header, header);
    for (unsigned changes = 1 + random() % 2; changes > 0; --changes) {
      const std::size_t place = random() % (sizeof header + packet.arguments.size());
      unsigned char& byte = place < sizeof header ? header[place] : packet.arguments[place - sizeof header];
      byte ^= static_cast<unsigned char>(1u << random() % 8);
    }
    packet.header = t3_kernel_packet_from(header);
    if (takes_too_long(packet)) continue;
    bench.memory.log.clear();
    bench.run(packet);
    if (gpu.error() != Status::bad_packet) ++ran;
  }
  REQUIRE(ran > 500);
}

}  // namespace t3vp::test::bad_packet_test
