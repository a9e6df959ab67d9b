// A driver that has opened the mock GPU 1 of 4, with the memory of a GEMM.
#pragma once

#include <catch2/catch.hpp>

#include "firmware/mock_gpu.h"

namespace t3vp {

struct Driver {
  MockGpu mock{1, 4};
  t3_context context;
  t3_output out{};
  t3_matrix a{}, b{};
  const t3_chunk chunk{0, 2};
  std::uint64_t peer_out;

  Driver() {
    REQUIRE(t3_init(&context, mock.hal()) == T3_OK);
    out.matrix.rows = out.matrix.columns = a.rows = b.columns = 256;
    a.columns = b.rows = 64;
    out.tiling = {128, 128, 8};
    for (t3_matrix* matrix : {&out.matrix, &a, &b}) REQUIRE(t3_matrix_malloc(&context, matrix) == T3_OK);
    peer_out = t3_peer_address(&out.matrix, 0);
  }

  t3_status remote_map() { return t3_remote_map(&context, &out, chunk, peer_out, T3_UPDATE); }
  t3_status dma_map() { return t3_dma_map(&context, &out, chunk, peer_out, T3_UPDATE, {2, 1, T3_UPDATE}); }
  t3_status gemm() { return t3_gemm(&context, &out, &a, &b, {}); }

  void require_alive() {
    REQUIRE(remote_map() == T3_OK);
    REQUIRE(dma_map() == T3_OK);
    REQUIRE(gemm() == T3_OK);
    REQUIRE(t3_wait_kernels(&context) == T3_OK);
    REQUIRE(t3_wait_dma(&context) == T3_OK);
    REQUIRE(t3_barrier(&context) == T3_OK);
    REQUIRE(t3_remote_unmap_all(&context) == T3_OK);
    REQUIRE(mock.unlocked_accesses() == 0);
    REQUIRE(mock.locks() == 0);
  }
};

}  // namespace t3vp
