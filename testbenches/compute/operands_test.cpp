// Where operands may lie, and what of them may overlap.
#include "bad_operands.h"

namespace t3vp::test::operands_test {

using namespace compute;

TEST_CASE("matrices may end with memory, and their last row before its stride") {
  ClusterBench bench(ClusterBench::small());
  const std::uint64_t end = ClusterBench::memory_bytes;
  GemmPacket gemm = good_gemm(bench.parameters);
  gemm.lda = gemm.ldb = gemm.ldo = 4096;
  gemm.a = end - 63 * 4096 - 96 - 192, gemm.b = end - 47 * 4096 - 96 - 192, gemm.out = end - 63 * 4096 - 96 - 96;
  REQUIRE(check_operands(gemm, bench.parameters, 0, true).empty());  // beside each other in the same rows
  for (const auto& [address, rows] : {std::pair{&t3_gemm_arguments::a, 64}, std::pair{&t3_gemm_arguments::b, 48},
                                      std::pair{&t3_gemm_arguments::out, 64}}) {
    GemmPacket beyond = gemm;
    beyond.*address = end - static_cast<std::uint64_t>(rows - 1) * 4096 - 96;
    REQUIRE(check_operands(beyond, bench.parameters, 0, true).empty());
    beyond.*address += 32;
    REQUIRE_THAT(check_operands(beyond, bench.parameters, 0, true), Catch::Contains("does not end in memory"));
  }
  RingPacket ring = good_ring(handle::ring_reduce_scatter);
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
  const auto refused = [&](const auto& good, const char* text, auto change) {
    REQUIRE(check_operands(good, p, 0, true).empty());
    auto bad = good;
    change(bad);
    CHECK_THAT(check_operands(bad, p, 0, true), Catch::Contains(text));
  };
  const auto fine = [&](const auto& good, auto change) {
    auto packet = good;
    change(packet);
    CHECK(check_operands(packet, p, 0, true) == "");
  };
  const GemmPacket gemm = good_gemm(p);  // a 64 x 48, b 48 x 48, out 64 x 48 fp16, rows without gaps
  refused(gemm, "out at 0x10000 to 0x117ff overlaps a at 0x10000 to 0x117ff", [](auto& k) { k.out = k.a; });
  refused(gemm, "overlaps b at 0x50000", [](auto& k) { k.out = k.b + 47 * 96 + 64; });
  refused(gemm, "overlaps a at 0x10000", [](auto& k) { k.out = k.a - 64 * 96 + 32; });
  fine(gemm, [](auto& k) { k.out = k.a - 64 * 96; });
  fine(gemm, [](auto& k) { k.out = k.a + 64 * 96; });
  fine(gemm, [](auto& k) { k.lda = k.ldo = 192, k.out = k.a + 96; });  // the right half of the same rows
  refused(gemm, "overlaps a", [](auto& k) { k.lda = k.ldo = 192, k.out = k.a + 64; });
  refused(gemm, "overlaps a", [](auto& k) { k.lda = k.ldo = 192, k.out = k.a + 128; });
  GemmPacket batch = gemm;
  batch.batches = 3, batch.header.workgroups *= 3, batch.a_batch = batch.out_batch = 64 * 96;
  refused(batch, "matrix 1 of out at 0x90000 overlaps the first", [](auto& k) { k.out_batch = 0; });
  refused(batch, "matrix 1 of out at 0x90020 overlaps the first", [](auto& k) { k.out_batch = 32; });
  refused(batch, "overlaps a", [](auto& k) { k.out = k.a + 2 * 64 * 96; });
  fine(batch, [](auto& k) { k.out = k.a + 3 * 64 * 96; });
  fine(batch, [](auto& k) { k.ldo = 288, k.out_batch = 96; });  // heads beside each other
  refused(batch, "matrix 1 of out", [](auto& k) { k.ldo = 288, k.out_batch = 64; });

  const RingPacket ring = good_ring(handle::ring_reduce_scatter);
  refused(ring, "staging at 0x90000 to 0x917ff overlaps out", [](auto& k) { k.staging = k.out; });
  refused(ring, "staging at 0x90c00", [](auto& k) { k.staging = k.out + 3072; });
  refused(ring, "peer_staging at 0x100000010000", [](auto& k) { k.peer_staging = k.peer_out; });

  const RowsPacket rows = good_rows();  // out = dropout(a + vector b) + c
  fine(rows, [](auto& k) { k.out = k.a; });
  fine(rows, [](auto& k) { k.out = k.c; });
  refused(rows, "out at 0x10060", [](auto& k) { k.out = k.a + 96; });
  refused(rows, "overlaps b at 0x50000", [](auto& k) { k.out = k.b; });
  refused(rows, "overlaps a", [](auto& k) { k.out = k.a, k.lda = 192; });
  RowsPacket adam = rows;
  adam.operation = static_cast<std::uint8_t>(T3_ROWS_ADAM), adam.ldb = 96, adam.b = 0x50000;
  fine(adam, [](auto& k) { k.out = k.a; });
  refused(adam, "b at 0x90000", [](auto& k) { k.b = k.out; });
  refused(adam, "overlaps c", [](auto& k) { k.b = k.c; });

  const AttentionPacket attention = good_attention();
  refused(attention, "out at 0x10000", [](auto& k) { k.out = k.qkv; });
  refused(attention, "matrix 1 of out", [](auto& k) { k.out_batch = 0; });
}

TEST_CASE("a reduction with near-memory updates needs no staging buffers") {
  const ComputeParameters p = ClusterBench::small();
  RingPacket packet = good_ring(handle::ring_reduce_scatter);
  packet.near_memory = 1;
  packet.staging = packet.peer_staging = 0;
  REQUIRE(check_operands(packet, p, 0, true).empty());
  packet.staging = 0x30000;
  REQUIRE_THAT(check_operands(packet, p, 0, true), Catch::StartsWith("staging 0x30000: 0 expected"));
  packet.staging = 0, packet.peer_staging = address_map::on_gpu(1, 0x30000);
  REQUIRE_THAT(check_operands(packet, p, 0, true), Catch::StartsWith("peer_staging 0x100000030000: 0 expected"));
}

TEST_CASE("what means nothing beside the other arguments of a kernel is zero") {
  const ComputeParameters p = ClusterBench::small();
  using Attention = t3_attention_arguments;
  const Mistake<AttentionPacket> mistakes[] = {
      mistake<AttentionPacket>("gradient 0x20: 0 expected", &Attention::gradient, 32),
      mistake<AttentionPacket>("result 0x20", &Attention::result, 32),
      mistake<AttentionPacket>("ld_gradient 0x60", &Attention::ld_gradient, 96)};
  for (const auto& mistake : mistakes) {
    AttentionPacket bad = good_attention();
    mistake.make(bad);
    CHECK_THAT(check_operands(bad, p, 0, true), Catch::Contains(mistake.text));
  }
}

}  // namespace t3vp::test::operands_test
