// Firmware and models share no header; what both have to know is compared here.
#include <catch2/catch.hpp>
#include <cstddef>

#include "compute/kernel_packet.h"
#include "protocol/address_map.h"
#include "t3/address.h"
#include "t3/kernel_packet.h"
#include "t3/t3.h"

namespace t3vp::test::contract_test {

#define REQUIRE_SAME_FIELD(field)                                              \
  REQUIRE(offsetof(KernelPacket, field) == offsetof(t3_kernel_packet, field)); \
  REQUIRE(sizeof(KernelPacket::field) == sizeof(t3_kernel_packet::field))

TEST_CASE("the kernel packet is the same on both sides") {
  REQUIRE(sizeof(t3_kernel_packet) == 128);
  REQUIRE(sizeof(KernelPacket) == 128);
  REQUIRE_SAME_FIELD(kernel);
  REQUIRE_SAME_FIELD(completion_signal);
  REQUIRE_SAME_FIELD(arguments);
  REQUIRE_SAME_FIELD(reserved);
  REQUIRE(KernelPacket::no_signal == T3_KERNEL_NO_SIGNAL);
  REQUIRE_SAME_FIELD(element);
  REQUIRE_SAME_FIELD(flags);
  REQUIRE_SAME_FIELD(m);
  REQUIRE_SAME_FIELD(n);
  REQUIRE_SAME_FIELD(k);
  REQUIRE_SAME_FIELD(a);
  REQUIRE_SAME_FIELD(b);
  REQUIRE_SAME_FIELD(out);
  REQUIRE_SAME_FIELD(lda);
  REQUIRE_SAME_FIELD(ldb);
  REQUIRE_SAME_FIELD(ldo);
  REQUIRE_SAME_FIELD(first_workgroup);
  REQUIRE_SAME_FIELD(workgroups);
  REQUIRE_SAME_FIELD(gpu);
  REQUIRE_SAME_FIELD(gpus);
  REQUIRE_SAME_FIELD(signal_base);
  REQUIRE_SAME_FIELD(peer_out);
  REQUIRE_SAME_FIELD(staging);
  REQUIRE_SAME_FIELD(peer_staging);
  REQUIRE_SAME_FIELD(signal_epoch);
  REQUIRE_SAME_FIELD(max_compute_units);
  REQUIRE_SAME_FIELD(tile_rows);
  REQUIRE_SAME_FIELD(tile_columns);
  REQUIRE_SAME_FIELD(wavefronts);
  REQUIRE_SAME_FIELD(ldc);
  REQUIRE_SAME_FIELD(c);
  REQUIRE_SAME_FIELD(seed);
  REQUIRE_SAME_FIELD(factor);
  REQUIRE_SAME_FIELD(operation);
  REQUIRE_SAME_FIELD(batches);
  REQUIRE_SAME_FIELD(a_batch);
  REQUIRE_SAME_FIELD(b_batch);
  REQUIRE_SAME_FIELD(out_batch);
}

TEST_CASE("kernel flags are the same on both sides") {
  REQUIRE(int{KernelPacket::update} == T3_KERNEL_UPDATE);
  REQUIRE(int{KernelPacket::uncached} == T3_KERNEL_UNCACHED);
  REQUIRE(int{KernelPacket::transpose_b} == T3_KERNEL_TRANSPOSE_B);
  REQUIRE(int{KernelPacket::near_memory} == T3_KERNEL_NEAR_MEMORY);
  REQUIRE(int{KernelPacket::transpose_a} == T3_KERNEL_TRANSPOSE_A);
}

TEST_CASE("a handle is a hash of the kernel's name") {
  REQUIRE(t3_kernel_handle("") == 0x811C9DC5);  // as published of FNV-1a
  REQUIRE(t3_kernel_handle("a") == 0xE40C292C);
  REQUIRE(t3_kernel_handle("foobar") == 0xBF9CF968);
  REQUIRE(t3_kernel_handle("\xFF") == (0x811C9DC5 ^ 0xFFu) * 0x01000193);
}

TEST_CASE("attention passes are the same on both sides") {
  REQUIRE(static_cast<int>(AttentionPass::forward) == T3_ATTENTION_FORWARD);
  REQUIRE(static_cast<int>(AttentionPass::backward_q) == T3_ATTENTION_BACKWARD_Q);
  REQUIRE(static_cast<int>(AttentionPass::backward_kv) == T3_ATTENTION_BACKWARD_KV);
  REQUIRE(static_cast<int>(AttentionPass::count) == T3_ATTENTION_BACKWARD_KV + 1);
}

TEST_CASE("addresses are made alike on both sides") {
  for (std::uint64_t gpu : {0u, 1u, 7u, 1023u}) {
    for (int i = 0; i < T3_BLOCK_COUNT; ++i)
      REQUIRE(t3_block_base(gpu, static_cast<t3_block>(i)) ==
              address_map::on_gpu(gpu, address_map::block_base(static_cast<address_map::Block>(i))));
    const std::uint64_t address = address_map::on_gpu(gpu, 0x123456);
    REQUIRE(t3_gpu_of(address) == address_map::gpu_of(address));
    REQUIRE(t3_on_gpu(gpu + 1, address) == address_map::on_gpu(gpu + 1, address_map::local_of(address)));
  }
}

}  // namespace t3vp::test::contract_test
