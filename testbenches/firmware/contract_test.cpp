// Firmware and models share no header; what both have to know is compared here.
#include <catch2/catch.hpp>
#include <cstddef>

#include "compute/kernel_packet.h"
#include "native_hal.h"
#include "processor/interrupt_controller.h"
#include "protocol/address_map.h"
#include "protocol/data_protocol.h"
#include "registers/status.h"
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

TEST_CASE("the address map is the same on both sides") {
  using address_map::Block;
  REQUIRE(static_cast<int>(Block::count) == T3_BLOCK_COUNT);
  REQUIRE(static_cast<int>(Block::system) == T3_BLOCK_SYSTEM);
  REQUIRE(static_cast<int>(Block::interrupt_controller) == T3_BLOCK_INTERRUPT_CONTROLLER);
  REQUIRE(static_cast<int>(Block::error_log) == T3_BLOCK_ERROR_LOG);
  REQUIRE(static_cast<int>(Block::signals) == T3_BLOCK_SIGNALS);
  REQUIRE(static_cast<int>(Block::kernel_queue) == T3_BLOCK_KERNEL_QUEUE);
  REQUIRE(static_cast<int>(Block::output_map) == T3_BLOCK_OUTPUT_MAP);
  REQUIRE(static_cast<int>(Block::cache) == T3_BLOCK_CACHE);
  REQUIRE(static_cast<int>(Block::memory_controller) == T3_BLOCK_MEMORY_CONTROLLER);
  REQUIRE(static_cast<int>(Block::near_memory) == T3_BLOCK_NEAR_MEMORY);
  REQUIRE(static_cast<int>(Block::tracker) == T3_BLOCK_TRACKER);
  REQUIRE(static_cast<int>(Block::dma) == T3_BLOCK_DMA);
  REQUIRE(static_cast<int>(Block::links) == T3_BLOCK_LINKS);
  for (std::uint64_t gpu : {0u, 1u, 7u, 1023u}) {
    for (int i = 0; i < T3_BLOCK_COUNT; ++i)
      REQUIRE(t3_block_base(gpu, static_cast<t3_block>(i)) ==
              address_map::on_gpu(gpu, address_map::block_base(static_cast<Block>(i))));
    const std::uint64_t address = address_map::on_gpu(gpu, 0x123456);
    REQUIRE(t3_gpu_of(address) == address_map::gpu_of(address));
    REQUIRE(t3_on_gpu(gpu + 1, address) == address_map::on_gpu(gpu + 1, address_map::local_of(address)));
  }
}

TEST_CASE("element types, interrupt lines and phases are numbered alike") {
  REQUIRE(static_cast<int>(ElementType::fp16) == T3_FP16);
  REQUIRE(static_cast<int>(ElementType::bf16) == T3_BF16);
  REQUIRE(static_cast<int>(ElementType::fp32) == T3_FP32);
  REQUIRE(static_cast<int>(InterruptController::kernel_queue) == T3_LINE_KERNEL_QUEUE);
  REQUIRE(static_cast<int>(InterruptController::dma) == T3_LINE_DMA);
  REQUIRE(static_cast<int>(InterruptController::signals) == T3_LINE_SIGNALS);
  REQUIRE(static_cast<int>(InterruptController::error_log) == T3_LINE_ERROR_LOG);
  REQUIRE(static_cast<int>(InterruptController::tracker) == T3_LINE_TRACKER);
  REQUIRE(static_cast<int>(InterruptController::dma_error) == T3_LINE_DMA_ERROR);
  REQUIRE(static_cast<int>(InterruptController::cache) == T3_LINE_CACHE);
  REQUIRE(static_cast<int>(InterruptController::line_count) == T3_LINE_COUNT);
  REQUIRE(static_cast<int>(Phase::setup) == T3_PHASE_SETUP);
  REQUIRE(static_cast<int>(Phase::total) == T3_PHASE_TOTAL);
  REQUIRE(static_cast<int>(Phase::gemm) == T3_PHASE_GEMM);
  REQUIRE(static_cast<int>(Phase::reduce_scatter) == T3_PHASE_REDUCE_SCATTER);
  REQUIRE(static_cast<int>(Phase::fused) == T3_PHASE_FUSED);
  REQUIRE(static_cast<int>(Phase::all_gather) == T3_PHASE_ALL_GATHER);
  REQUIRE(static_cast<int>(Phase::operation) == T3_PHASE_OPERATION);
  REQUIRE(static_cast<int>(Phase::hand_over) == T3_PHASE_HAND_OVER);
  REQUIRE(static_cast<int>(Phase::zeroing) == T3_PHASE_ZEROING);
}

TEST_CASE("a status has the same number and text on both sides") {
  for (std::uint32_t code = 0; code <= T3_MISMATCH; ++code)
    REQUIRE(std::string(t3_status_text(static_cast<t3_status>(code))) == text_of(static_cast<Status>(code)));
}
