// Free parameters of the compute units. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>

#include "protocol/address_map.h"
#include "protocol/picoseconds.h"

namespace t3vp::compute {

struct ComputeParameters {
  std::uint32_t compute_units = 80;
  double clock_GHz = 1.4;
  std::uint32_t workgroups_per_cu = 2;     ///< resident GEMM workgroups
  double matrix_flops_per_cycle = 1024;    ///< peak of a CU, a multiply-add counts two
  double matrix_efficiency = 0.75;         ///< share of the peak that the inner loop reaches on data at hand
  double vector_elements_per_cycle = 128;  ///< vector operations of a CU
  double port_bytes_per_cycle = 64;        ///< between a CU and the cache, per direction
  Picoseconds launch_latency = 3'000'000;  ///< doorbell to first workgroup
  std::uint32_t tile_rows = 128, tile_columns = 128;
  std::uint32_t wavefronts = 8;               ///< of a GEMM workgroup, 1 to 8 (3 bits, T3 4.2.1)
  std::uint32_t slab_depth = 64;              ///< of the K dimension, elements per load
  std::uint32_t prefetch_slabs = 2;           ///< slab buffers of a workgroup; 2 is double buffering
  std::uint32_t ring_workgroups_per_cu = 1;   ///< of ring reduce-scatter and all-gather kernels
  std::uint32_t ring_workgroups = 0;          ///< of such a kernel at most; 0: what the compute units hold
  std::uint32_t ring_block_bytes = 4096;      ///< a ring workgroup's unit of work
  std::uint32_t ring_blocks_in_flight = 4;    ///< blocks a ring workgroup keeps under way
  Picoseconds ring_start = 0;                 ///< of a collective kernel's workgroup before its first step
  Picoseconds ring_step = 0;                  ///< of the same after each wait for another GPU
  std::uint32_t row_workgroups_per_cu = 8;    ///< of rows kernels
  std::uint32_t row_block_bytes = 4096;       ///< of an operand that a workgroup of a rows kernel has under way
  Picoseconds poll = 500'000;                 ///< how often a polling loop reads at most
  std::uint32_t register_bytes = 256u << 10;  ///< of a compute unit, which its workgroups share
  std::uint32_t local_bytes = 96u << 10;      ///< local memory of a compute unit
  /// Workgroups of kernels that gather rows of tables; rows that their program has under way.
  std::uint32_t gather_workgroups_per_cu = 8, gather_rows_in_flight = 4;
  std::uint64_t memory_bytes = address_map::hbm_limit;  ///< of every GPU: packets reach no further
  bool wrong_rounding = false;                          ///< a fault: ring kernels round their sums toward zero
};

}  // namespace t3vp::compute
