// Firmware and models share no header; what both have to know is compared here.
#include <catch2/catch.hpp>
#include <cstddef>

#include "compute/kernel_packet.h"
#include "protocol/address_map.h"
#include "t3/address.h"
#include "t3/kernel_packet.h"
#include "t3/t3.h"

using namespace t3vp;

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

TEST_CASE("kernel kinds and flags are the same on both sides") {
  REQUIRE(static_cast<int>(KernelKind::gemm) == T3_KERNEL_GEMM);
  REQUIRE(static_cast<int>(KernelKind::ring_reduce_scatter) == T3_KERNEL_RING_REDUCE_SCATTER);
  REQUIRE(static_cast<int>(KernelKind::ring_all_gather) == T3_KERNEL_RING_ALL_GATHER);
  REQUIRE(static_cast<int>(KernelKind::rows) == T3_KERNEL_ROWS);
  REQUIRE(static_cast<int>(KernelKind::attention) == T3_KERNEL_ATTENTION);
  REQUIRE(int{KernelPacket::update} == T3_KERNEL_UPDATE);
  REQUIRE(int{KernelPacket::uncached} == T3_KERNEL_UNCACHED);
  REQUIRE(int{KernelPacket::transpose_b} == T3_KERNEL_TRANSPOSE_B);
  REQUIRE(int{KernelPacket::near_memory} == T3_KERNEL_NEAR_MEMORY);
  REQUIRE(int{KernelPacket::transpose_a} == T3_KERNEL_TRANSPOSE_A);
}

TEST_CASE("row operations and attention passes are the same on both sides") {
  REQUIRE(static_cast<int>(RowOperation::scale) == T3_ROWS_SCALE);
  REQUIRE(static_cast<int>(RowOperation::add) == T3_ROWS_ADD);
  REQUIRE(static_cast<int>(RowOperation::bias_gelu) == T3_ROWS_BIAS_GELU);
  REQUIRE(static_cast<int>(RowOperation::softmax) == T3_ROWS_SOFTMAX);
  REQUIRE(static_cast<int>(RowOperation::layer_norm) == T3_ROWS_LAYER_NORM);
  REQUIRE(static_cast<int>(RowOperation::dropout) == T3_ROWS_DROPOUT);
  REQUIRE(static_cast<int>(RowOperation::bias_dropout_add) == T3_ROWS_BIAS_DROPOUT_ADD);
  REQUIRE(static_cast<int>(RowOperation::bias_gelu_backward) == T3_ROWS_BIAS_GELU_BACKWARD);
  REQUIRE(static_cast<int>(RowOperation::softmax_backward) == T3_ROWS_SOFTMAX_BACKWARD);
  REQUIRE(static_cast<int>(RowOperation::layer_norm_backward) == T3_ROWS_LAYER_NORM_BACKWARD);
  REQUIRE(static_cast<int>(RowOperation::adam) == T3_ROWS_ADAM);
  REQUIRE(static_cast<int>(RowOperation::count) == T3_ROWS_ADAM + 1);
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
