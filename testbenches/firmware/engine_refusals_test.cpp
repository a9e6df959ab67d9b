// Calls for the DMA engine's copies, for what follows a reduction, for gates and for the endpoint engine name what they
// refuse.
#include "firmware/refused_calls.h"
#include "t3/chunk_progress.h"
#include "t3/dma_copies.h"
#include "t3/endpoint.h"
#include "t3/following.h"
#include "t3/gates.h"
#include "t3/registers/endpoint.h"

namespace t3vp::test::engine_refusals_test {

namespace {

t3_status refused_copy(Refusing& d, t3_status code, t3_dma_copy copy) {
  d.mock.refuse_next(T3_BLOCK_DMA, {code});
  return t3_queue_dma_copy(&d.context, 0, &copy);
}

t3_status follow(Refusing& d, void (*change)(t3_output& output, t3_matrix& bias, t3_following& following)) {
  t3_output output{d.a, {16, 16, 1}};
  t3_matrix bias{d.b};
  bias.rows = 1, bias.columns = d.a.columns;
  t3_following following{&bias, nullptr, 0, 0, nullptr};
  change(output, bias, following);
  return t3_follow(&d.context, &output, {0, 1}, following);
}

t3_status follow_adam(Refusing& d, void (*change)(t3_following& following, t3_matrix& state, t3_adam& adam)) {
  const t3_output output{d.a, {16, 16, 1}};
  // Three parts of another piece of memory, which is large enough.
  t3_matrix state{d.a}, squares{d.a}, weights{d.a};
  state.address = d.out.matrix.address;
  squares.address = state.address + d.a.rows * d.a.row_stride;
  weights.address = squares.address + d.a.rows * d.a.row_stride;
  t3_adam adam{&state, &squares, &weights, 0.001F};
  t3_following following{nullptr, nullptr, 0, 0, &adam};
  change(following, state, adam);
  return t3_follow(&d.context, &output, {0, 1}, following);
}

/// Copies of the DMA engine, operations that follow, and gates.
const RefusedCall beyond_maps[] = {
    {[](Refusing& d) {
       return refused_copy(d, T3_INVALID_ARGUMENT, {d.a.address, d.b.address, 0, {}, 0, 0});
     },
     T3_INVALID_ARGUMENT, "t3_queue_dma_copy", "copy->bytes", "1 or more"},
    {[](Refusing& d) {
       return refused_copy(d, T3_UNALIGNED, {d.a.address, d.b.address + 4, 64, {}, 0, 0});
     },
     T3_UNALIGNED, "t3_queue_dma_copy", "copy->from", "a multiple of 32"},
    {[](Refusing& d) {
       return refused_copy(d, T3_UNALIGNED, {d.a.address, d.b.address, 63, {}, 0, 0});
     },
     T3_UNALIGNED, "t3_queue_dma_copy", "copy->bytes", "a multiple of 4"},
    {[](Refusing& d) {
       return refused_copy(d, T3_BAD_ADDRESS, {d.a.address, t3_on_gpu(2, 4096), 64, {}, 0, 0});
     },
     T3_BAD_ADDRESS, "t3_queue_dma_copy", "copy->from", "bytes within this GPU's memory"},
    {[](Refusing& d) {
       return refused_copy(d, T3_BAD_ADDRESS, {t3_on_gpu(2, 1u << 30), d.b.address, 64, {}, 0, 0});
     },
     T3_BAD_ADDRESS, "t3_queue_dma_copy", "copy->to", "bytes within the target's memory"},
    {[](Refusing& d) {
       return refused_copy(d, T3_OVERLAP, {d.b.address + 32, d.b.address, 64, {}, 0, 0});
     },
     T3_OVERLAP, "t3_queue_dma_copy", "copy->to", "bytes that are not copied from"},
    {[](Refusing& d) { return t3_queue_dma_copy(&d.context, 0, nullptr); }, T3_INVALID_ARGUMENT, "t3_queue_dma_copy",
     "copy", "a copy"},
    {[](Refusing& d) { return follow(d, [](t3_output&, t3_matrix&, t3_following& f) { f.bias = nullptr; }); },
     T3_INVALID_ARGUMENT, "t3_follow", "following", "a bias, a residual, a dropout or adam"},
    {[](Refusing& d) { return follow(d, [](t3_output&, t3_matrix&, t3_following& f) { f.keep = -1; }); },
     T3_INVALID_ARGUMENT, "t3_follow", "following.keep", "0 to 1"},
    {[](Refusing& d) { return follow(d, [](t3_output&, t3_matrix& bias, t3_following&) { bias.columns += 1; }); },
     T3_INVALID_ARGUMENT, "t3_follow", "following.bias", "a row of the output's columns and element type"},
    {[](Refusing& d) { return follow(d, [](t3_output&, t3_matrix& bias, t3_following&) { bias.address = 4096; }); },
     T3_BAD_ADDRESS, "t3_follow", "following.bias", "bytes within this GPU's memory"},
    {[](Refusing& d) { return follow(d, [](t3_output& out, t3_matrix&, t3_following&) { out.matrix.address += 4; }); },
     T3_UNALIGNED, "t3_follow", "output", "an address that is a multiple of 32"},
    {[](Refusing& d) { return follow_adam(d, [](t3_following& f, t3_matrix&, t3_adam&) { f.keep = 0.5F; }); },
     T3_INVALID_ARGUMENT, "t3_follow", "following.adam", "a finite rate, and no other operation"},
    {[](Refusing& d) { return follow_adam(d, [](t3_following&, t3_matrix&, t3_adam& adam) { adam.means = nullptr; }); },
     T3_INVALID_ARGUMENT, "t3_follow", "following.adam->means", "the output's shape, row stride and element type"},
    {[](Refusing& d) { return follow_adam(d, [](t3_following&, t3_matrix& state, t3_adam&) { state.columns += 1; }); },
     T3_INVALID_ARGUMENT, "t3_follow", "following.adam->means", "the output's shape, row stride and element type"},
    {[](Refusing& d) {
       return follow_adam(d, [](t3_following&, t3_matrix&, t3_adam& adam) { adam.means = adam.weights; });
     },
     T3_OVERLAP, "t3_follow", "following.adam", "matrices that share no bytes with the output or each other"},
    {[](Refusing& d) {
       return follow_adam(d, [](t3_following&, t3_matrix& state, t3_adam&) { state.address = 4096; });
     },
     T3_BAD_ADDRESS, "t3_follow", "following.adam->means", "bytes within this GPU's memory"},
    {[](Refusing& d) {
       return t3_gate_workgroups(&d.context, 9, {0, 1, T3_CHUNK_SIGNAL_FIRST, 1});
     },
     T3_INVALID_ARGUMENT, "t3_gate_workgroups", "queue", "an open queue"},
    {[](Refusing& d) {
       return t3_gate_workgroups(&d.context, 0, {0, 0, T3_CHUNK_SIGNAL_FIRST, 1});
     },
     T3_INVALID_ARGUMENT, "t3_gate_workgroups", "gate.workgroups", "1 or more"},
    {[](Refusing& d) {
       return t3_gate_workgroups(&d.context, 0, {0, 1, 0, 1});
     },
     T3_INVALID_ARGUMENT, "t3_gate_workgroups", "gate.signal",
     "T3_CHUNK_SIGNAL_FIRST or one of the T3_CHUNK_SIGNALS from there on"},
    {[](Refusing& d) {
       d.mock.reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_GATE_STATUS_OFFSET) = T3_TABLE_FULL;
       return t3_gate_workgroups(&d.context, 0, {0, 1, T3_CHUNK_SIGNAL_FIRST, 1});
     },
     T3_TABLE_FULL, "t3_gate_workgroups", "", "all gates are in use"},
    {[](Refusing& d) { return t3_remove_gates(&d.context, 9); }, T3_INVALID_ARGUMENT, "t3_remove_gates", "queue",
     "an open queue"},
};

/// `status`: what the engine answers.
t3_status start(Refusing& d, t3_status status, void (*change)(t3_endpoint_collective& collective)) {
  t3_endpoint_collective collective{T3_ENDPOINT_ALL_REDUCE, T3_FP16, d.a.address, 64, 0, 2, 1, 1, 0};
  change(collective);
  d.mock.reg(T3_BLOCK_ENDPOINT, T3_ENDPOINT_STATUS_OFFSET) = status;
  return t3_endpoint_start(&d.context, &collective);
}

using Ring = t3_endpoint_collective;

/// Collectives of the endpoint engine.
const RefusedCall of_endpoint[] = {
    {[](Refusing& d) { return start(d, T3_INVALID_ARGUMENT, [](Ring& c) { c.bytes = 0; }); }, T3_INVALID_ARGUMENT,
     "t3_endpoint_start", "collective->bytes", "32 or more"},
    {[](Refusing& d) { return start(d, T3_INVALID_ARGUMENT, [](Ring& c) { c.gpus = 1; }); }, T3_INVALID_ARGUMENT,
     "t3_endpoint_start", "collective->gpus", "2 or more"},
    {[](Refusing& d) { return start(d, T3_INVALID_ARGUMENT, [](Ring& c) { c.place = 2; }); }, T3_INVALID_ARGUMENT,
     "t3_endpoint_start", "collective->place", "below collective->gpus"},
    {[](Refusing& d) { return start(d, T3_INVALID_ARGUMENT, [](Ring& c) { c.ring = 9; }); }, T3_INVALID_ARGUMENT,
     "t3_endpoint_start", "collective->ring", "below t3_endpoint_use_rings"},
    {[](Refusing& d) { return start(d, T3_OK, [](Ring& c) { c.ring = 64; }); }, T3_INVALID_ARGUMENT,
     "t3_endpoint_start", "collective->ring", "below t3_endpoint_use_rings"},
    {[](Refusing& d) { return start(d, T3_OK, [](Ring& c) { c.gpus = 0x10000; }); }, T3_INVALID_ARGUMENT,
     "t3_endpoint_start", "collective->place", "below collective->gpus"},
    {[](Refusing& d) { return start(d, T3_OK, [](Ring& c) { c.operation = static_cast<t3_endpoint_operation>(3); }); },
     T3_INVALID_ARGUMENT, "t3_endpoint_start", "collective->operation", "a member of enum t3_endpoint_operation"},
    {[](Refusing& d) { return start(d, T3_OK, [](Ring& c) { c.element = static_cast<t3_element>(3); }); },
     T3_INVALID_ARGUMENT, "t3_endpoint_start", "collective->element", "a member of enum t3_element"},
    {[](Refusing& d) { return start(d, T3_UNALIGNED, [](Ring& c) { c.address += 4; }); }, T3_UNALIGNED,
     "t3_endpoint_start", "collective->address", "a multiple of 32"},
    {[](Refusing& d) { return start(d, T3_UNALIGNED, [](Ring& c) { c.bytes = 66; }); }, T3_UNALIGNED,
     "t3_endpoint_start", "collective->bytes", "a multiple of 32"},
    {[](Refusing& d) { return start(d, T3_BAD_ADDRESS, [](Ring&) {}); }, T3_BAD_ADDRESS, "t3_endpoint_start",
     "collective->address", "bytes within this GPU's memory"},
    {[](Refusing& d) { return start(d, T3_NO_PEER, [](Ring&) {}); }, T3_NO_PEER, "t3_endpoint_start",
     "collective->next, collective->previous", "other GPUs that can be reached"},
    {[](Refusing& d) { return start(d, T3_OK, [](Ring& c) { c.next = 0x10000; }); }, T3_NO_PEER, "t3_endpoint_start",
     "collective->next, collective->previous", "other GPUs that can be reached"},
    {[](Refusing& d) { return start(d, T3_OVERLAP, [](Ring&) {}); }, T3_OVERLAP, "t3_endpoint_start",
     "collective->address", "bytes that no other collective uses"},
    {[](Refusing& d) { return t3_endpoint_start(&d.context, nullptr); }, T3_INVALID_ARGUMENT, "t3_endpoint_start",
     "collective", "a collective"},
    {[](Refusing& d) { return t3_endpoint_use_rings(&d.context, 3); }, T3_INVALID_ARGUMENT, "t3_endpoint_use_rings",
     "rings", "1 to t3_endpoint_rings"},
    {[](Refusing& d) { return t3_endpoint_rings(&d.context, nullptr); }, T3_INVALID_ARGUMENT, "t3_endpoint_rings",
     "rings", "a place for their number"},
};

}  // namespace

TEST_CASE(
    "copies, operations that follow, gates and collectives of the endpoint engine that are refused name call and "
    "parameter") {
  require_all_named(beyond_maps);
  require_all_named(of_endpoint);
}

}  // namespace t3vp::test::engine_refusals_test
