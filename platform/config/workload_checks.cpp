#include "config/workload_checks.h"

#include <fmt/format.h>

#include "config/heap.h"
#include "config/topology.h"
#include "workload/collective.h"

namespace t3vp {

void check_mirrored_data(const Document& run, const RunConfiguration& c) {
  if (c.functional) run.reject("/simulate", "all with data functional: a mirror has no neighbours' data");
}

namespace {

/// All GPUs of a torus do the same, and what they send to each other are equal parts.
void check_mirrored_torus(const Document& run, const RunConfiguration& c, std::uint64_t parts, const char* what) {
  check_mirrored_data(run, c);
  if (!c.system.topology.channels_by_distance)
    run.reject("/simulate", "all: a mirror that is no torus stands for the ring of a GEMM's chunks");
  if (parts % c.gpus != 0)
    run.reject("/simulate", fmt::format("all, since {} {} are not shared equally by {} GPUs", parts, what, c.gpus));
}

/// In a ring through a torus GPUs are not alike: some ways go round a corner.
void check_mirrored_collective(const Document& run, const RunConfiguration& c) {
  const t3_collective& collective = *c.workload.collective;
  check_mirrored_torus(run, c, collective.elements, "elements");
  if (collective.op == T3_BROADCAST) run.reject("/simulate", "all: of a broadcast one GPU is not like the others");
  if (collective.algorithm != T3_DIRECT && collective.algorithm != T3_TORUS_RINGS)
    run.reject("/simulate", fmt::format("all with algorithm {}: in a mirrored torus all GPUs do the same, as direct "
                                        "and torus-rings",
                                        name_of(collective.algorithm)));
}

/// Registers of a collective kernel's workgroup.
void check_blocks(const Document& system, const RunConfiguration& c) {
  const compute::ComputeParameters& compute = c.system.compute;
  const t3_ring_parameters& ring = c.system.kernels.ring;
  const std::uint64_t taken = t3_collective_registers(ring.block_bytes, ring.blocks_in_flight);
  if (taken * ring.workgroups_per_cu > compute.register_bytes && taken <= compute.register_bytes)
    system.reject("/kernels/ring/workgroups_per_cu",
                  fmt::format("{} workgroups of a collective, of which each takes {} bytes of registers",
                              ring.workgroups_per_cu, taken),
                  fmt::format("at most {}", compute.register_bytes / taken));
  if (taken > compute.register_bytes)
    system.reject(
        "/kernels/ring/block_bytes",
        fmt::format("blocks of which a workgroup of a collective takes {} bytes of registers, of {}", taken,
                    compute.register_bytes),
        fmt::format("at most {} bytes for {} blocks in flight",
                    compute.register_bytes / t3_collective_registers(1, ring.blocks_in_flight), ring.blocks_in_flight));
}

void check_torus_rings(const Document& run, const RunConfiguration& c) {
  const char* const place = "/workload/collective/algorithm";
  const t3_collective_op op = c.workload.collective->op;
  if (c.system.topology.dimensions.empty()) run.reject(place, "another one: torus-rings needs links of kind torus");
  if (op == T3_ALL_TO_ALL || op == T3_BROADCAST)
    run.reject(place, fmt::format("another one: torus-rings is for reduce-scatter, all-gather and all-reduce, not {}",
                                  name_of(op)));
}

}  // namespace

void check_collective(const Document& run, const Document& system, const RunConfiguration& c) {
  const t3_collective& collective = *c.workload.collective;
  check_blocks(system, c);
  if (c.method != Method::sequential) run.reject("/method", "sequential, or nothing, for a collective alone");
  if (c.mirror) check_mirrored_collective(run, c);
  const Topology& topology = c.system.topology;
  if (collective.algorithm == T3_HIERARCHICAL && topology.kind != Topology::Kind::nodes)
    run.reject("/workload/collective/algorithm", "another one: hierarchical needs links of kind nodes");
  if (collective.algorithm == T3_IN_SWITCH && !(topology.kind == Topology::Kind::switched && topology.reduces))
    run.reject("/workload/collective/algorithm", "another one: in-switch needs a switch with reduction true");
  if (collective.algorithm == T3_IN_SWITCH && collective.op == T3_ALL_TO_ALL)
    run.reject("/workload/collective/algorithm", "another one: of an all-to-all a switch has nothing to add or copy");
  if (collective.algorithm == T3_TORUS_RINGS) check_torus_rings(run, c);
  const std::uint64_t received = t3_received_elements(&collective, 0, c.gpus);
  constexpr std::uint64_t most_received = 1 << 30;
  if (collective.op == T3_ALL_TO_ALL && (collective.elements < c.gpus || received > most_received))
    run.reject("/workload/collective/bytes",
               fmt::format("elements from {}, one for each GPU, to {}", c.gpus, most_received / c.gpus * c.gpus));
  Heap heap;
  heap.take(received * t3_element_bytes(collective.element));
  if (collective.op == T3_ALL_TO_ALL) heap.take(bytes_of(collective));
  heap.take(t3_staging_bytes(&collective, c.gpus));
  if (!c.software.library) require_room(run, c, heap, "buffers");
}

namespace {

/// What goes by samples' numbers goes to the same owner from all GPUs at once.
void check_mirrored_embedding(const Document& run, const RunConfiguration& c) {
  check_mirrored_torus(run, c, c.workload.embedding->global_batch, "samples");
  if (c.method == Method::zero_copy)
    run.reject("/simulate", "all with method zero-copy: its GPUs store to the first owners first, whoever they are");
  if (pools_fused(c.method) && c.workload.embedding->oblivious)
    run.reject("/simulate", "all with order oblivious: GPUs store to the first owners first, whoever they are");
}

/// What a training pass has beside its tables, their results and what tells of these.
void take_pass(const RunConfiguration& c, Heap& heap) {
  const t3_embedding& e = *c.workload.embedding;
  const t3_dlrm& d = *c.workload.dlrm;
  const std::uint32_t layers = t3_dlrm_layers(&d);
  const std::uint64_t layer = t3_dlrm_layer_bytes(&d, e.element, c.gpus),
                      matrix = t3_embedding_samples(&e, 0, c.gpus) * t3_dlrm_row_bytes(&d, e.element);
  for (int i = 0; i < 2; ++i) heap.take(t3_embedding_out_bytes(&e, 0, c.gpus));
  heap.take(t3_embedding_pooled_bytes(&e));
  for (int i = 0; i < 2; ++i) heap.take(layers * layer);
  heap.take((2 * layers + 3) * matrix);
  heap.take(2 * t3_dlrm_bucket_layers(&d, e.element, c.gpus) * layer);
}

void check_dlrm(const Document& run, const Document& system, const RunConfiguration& c) {
  if (c.method != Method::bulk && !pools_fused(c.method))
    run.reject("/method", "bulk, fused or fused-backward, or nothing, for a training pass");
  const t3_embedding& e = *c.workload.embedding;
  if (c.functional && e.mean && (e.drawn || (e.pooling & (e.pooling - 1)) != 0))
    run.reject(
        "/workload/embedding/result",
        "sum beside mlp with data functional, or a power of two of rows in each bag: gradients are rounded else");
  if (e.gpus_per_node != 0)
    system.reject("/links/topology", "links between all GPUs, which a training pass (mlp) needs");
  check_blocks(system, c);
}

}  // namespace

/// The program's buffers, in its order.
void check_embedding(const Document& run, const Document& system, const RunConfiguration& c) {
  const t3_embedding& e = *c.workload.embedding;
  if (c.workload.dlrm) check_dlrm(run, system, c);
  if (!c.workload.dlrm && (!is_of_kernels(c.method) || c.method == Method::fused_backward))
    run.reject("/method", "bulk, zero-copy or fused, or nothing, for embedding tables");
  if (c.mirror) check_mirrored_embedding(run, c);
  if (e.global_batch < c.gpus)
    run.reject("/workload/embedding/global_batch", fmt::format("at least {}, a sample for each GPU", c.gpus));
  constexpr std::uint32_t most_by_nic = 16;  // that a symmetric heap joins
  if (e.gpus_per_node != 0 && !c.system.nic) system.reject("/nic", "nothing", "NICs, since links do not join all GPUs");
  if (e.gpus_per_node != 0 && c.gpus > most_by_nic)
    run.reject("/gpus", fmt::format("at most {}, since links do not join all GPUs", most_by_nic));
  constexpr std::uint64_t most_columns = 1 << 30;
  const std::uint64_t columns = std::uint64_t{c.gpus} * e.tables_per_gpu * e.dimension;
  if (columns > most_columns)
    run.reject("/workload/embedding/tables_per_gpu", fmt::format("{} elements of a sample's results", columns),
               fmt::format("at most {}", most_columns));
  Heap heap;
  heap.take(t3_embedding_table_bytes(&e));
  heap.take(t3_embedding_index_bytes(&e));
  heap.take(t3_embedding_offset_bytes(&e));
  if (c.method == Method::bulk) heap.take(t3_embedding_pooled_bytes(&e));
  if (c.method == Method::bulk && e.gpus_per_node != 0) heap.take(t3_embedding_out_bytes(&e, 0, c.gpus));
  heap.take(t3_embedding_out_bytes(&e, 0, c.gpus));
  if (c.workload.dlrm) take_pass(c, heap);
  if (pools_fused(c.method)) {
    heap.take(t3_embedding_done_bytes(&e));
    heap.take(t3_embedding_ready_bytes(&e, 0, c.gpus));
    if (e.gpus_per_node != 0) heap.take(t3_embedding_pooled_bytes(&e));
  }
  if (!c.software.library)
    require_room(run, c, heap,
                 c.workload.dlrm ? "tables, the numbers of their rows, results, weights and what layers of mlp give"
                                 : "tables, the numbers of their rows and results");
}

/// The program's buffers, in its order.
void check_gemv(const Document& run, const Document& system, const RunConfiguration& c) {
  const t3_gemv& g = *c.workload.gemv;
  if (c.method != Method::bulk && c.method != Method::fused)
    run.reject("/method", "bulk or fused, or nothing, for a matrix times a vector");
  if (c.mirror) run.reject("/simulate", "all: a mirror stands for the ring of a GEMM's chunks");
  if (c.method == Method::bulk) check_blocks(system, c);
  Heap heap;
  heap.take(t3_gemv_matrix_bytes(&g));
  heap.take(t3_gemv_vector_bytes(&g));
  heap.take(t3_gemv_out_bytes(&g));
  if (c.method == Method::fused) {
    heap.take(t3_gemv_partial_bytes(&g, c.gpus));
    heap.take(
        t3_all_peer_flag_bytes(c.gpus, t3_gemv_workgroups(&g, t3_gemv_slices_owned(&g, c.gpus)), T3_GEMV_FLAG_KINDS));
  } else {
    const t3_collective all_reduce{T3_ALL_REDUCE, T3_DIRECT, g.element, g.rows, 0, 0, {}, {}};
    heap.take(t3_staging_bytes(&all_reduce, c.gpus));
  }
  if (!c.software.library) require_room(run, c, heap, "matrix, vector and results");
}

/// The program's buffers, in its order.
void check_experts(const Document& run, const RunConfiguration& c) {
  const t3_experts& e = *c.workload.experts;
  const GemmShape& g = c.workload.gemm;
  if (c.method != Method::bulk && c.method != Method::fused)
    run.reject("/method", "bulk or fused, or nothing, for experts");
  if (c.mirror) run.reject("/simulate", "all: a mirror stands for the ring of a GEMM's chunks");
  if (e.tokens < c.gpus)
    run.reject("/workload/experts/tokens", fmt::format("at least {}, a token for each GPU", c.gpus));
  const std::uint64_t tiles = output_grid(c).workgroups();
  if (tiles >= no_workgroup)
    run.reject("/workload", fmt::format("a product of {} tiles", tiles), fmt::format("at most {}", no_workgroup - 1));
  Heap heap;
  heap.take_matrix(g.m, g.k, g.element);
  heap.take_matrix(g.k, g.n, g.element);
  heap.take(t3_experts_out_bytes(&e, 0, c.gpus));
  if (c.method == Method::fused)
    heap.take(t3_all_peer_flag_bytes(c.gpus, e.workgroups, 1));
  else
    heap.take_matrix(g.m, g.n, g.element);
  if (!c.software.library) require_room(run, c, heap, "operands and results");
}

}  // namespace t3vp
