#include "compute/device_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "compute/guest_bool.h"
#include "compute/planned_ranges.h"
#include "compute/shared_mistakes.h"
#include "protocol/address_map.h"
#include "protocol/gpu_name.h"
#include "registers/signals.h"
#include "t3/address.h"
#include "t3/element_bytes.h"

namespace t3vp::compute {
namespace {

constexpr const char* known_elements = "fp16 (0), bf16 (1) or fp32 (2)";

bool is_known(t3_element element) { return element <= T3_FP32; }

std::string name_of(t3_element element) {
  return element == T3_FP16   ? "fp16"
         : element == T3_BF16 ? "bf16"
         : element == T3_FP32 ? "fp32"
                              : fmt::format("elements of type {}", static_cast<std::uint32_t>(element));
}

bool is_tile(const t3_tile& tile, std::uint32_t tiles) {
  return tile.index < tiles && tile.rows != 0 && tile.columns != 0 &&
         std::uint64_t{tile.rows} * tile.columns <= T3_TILE_ELEMENTS_MAX;
}

bool fits(const t3_tile& tile, std::uint32_t rows, std::uint32_t columns) {
  return tile.element == T3_FP32 && tile.rows == rows && tile.columns == columns;
}

struct NamedBool {
  const char* name;
  const bool& value;
};

Refusal validate_bools(const char* what, std::initializer_list<NamedBool> bools) {
  for (const NamedBool& each : bools)
    if (!is_bool(each.value))
      return refused(Status::bad_packet, "{} whose {} is {}: {} expected", what, each.name, byte_of(each.value),
                     a_bool);
  return {};
}

Refusal validate_ranges(const char* what, const t3_range* ranges, std::uint32_t count, const t3_range& memory) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (ranges[i].begin >= ranges[i].end || ranges[i].begin < memory.begin || ranges[i].end > memory.end)
      return refused(Status::bad_packet,
                     "a plan whose range {} that it {} begins at {:#x} and ends before {:#x}: one of {} expected",
                     i + 1, what, ranges[i].begin, ranges[i].end, place_of(memory));
  return {};
}

}  // namespace

std::string text_of(const t3_tile& tile) {
  return fmt::format("tile {} of {} x {} {}", tile.index, tile.rows, tile.columns, name_of(tile.element));
}

namespace {

struct NamedNumber {
  const char* name;
  std::uint32_t value, least, most;
};

Refusal validate_numbers(const t3_plan& plan) {
  constexpr std::uint32_t any = ~std::uint32_t{0};
  const NamedNumber numbers[] = {
      {"workgroups", plan.workgroups, 1, any},
      {"workgroups_per_cu", plan.workgroups_per_cu, 1, T3_WORKGROUPS_PER_CU_MAX},
      {"waves", plan.waves, 1, T3_WAVES_MAX},
      {"tiles", plan.tiles, 0, T3_TILES_MAX},
      {"written_count", plan.written_count, plan.sent_count == 0 || plan.stores_here ? 1u : 0u, T3_RANGES_MAX},
      {"read_count", plan.read_count, 0, T3_RANGES_MAX},
      {"sent_count", plan.sent_count, 0, T3_RANGES_MAX},
      {"fetched_count", plan.fetched_count, 0, T3_RANGES_MAX},
      {"shared_count", plan.shared_count, 0, T3_RANGES_MAX},
      {"timeline_rows", plan.timeline_rows, 0, T3_TIMELINE_ROWS_MAX},
      {"store_bytes", plan.store_bytes, 0, T3_SECTOR_BYTES}};
  for (const auto& [name, value, least, most] : numbers) {
    if (value >= least && value <= most) continue;
    const std::string expected = most == any ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
    return refused(Status::bad_packet, "a plan whose {} is {}: {} expected", name, value, expected);
  }
  return {};
}

}  // namespace

Refusal validate_plan(const t3_plan& plan, std::uint16_t gpu, std::uint64_t memory_bytes) {
  if (Refusal wrong = validate_bools("a plan", {{"together", plan.together},
                                                {"awaits_arrivals", plan.awaits_arrivals},
                                                {"awaits_chunks", plan.awaits_chunks},
                                                {"stores_here", plan.stores_here},
                                                {"doorbells", plan.doorbells}}))
    return wrong;
  if (plan.tiles_named > T3_TILES_NAMED)
    return refused(
        Status::bad_packet,
        "a plan with tiles_named {}: T3_TILES_UNNAMED (0), T3_TILES_FORGOTTEN (1) or T3_TILES_NAMED (2) expected",
        static_cast<std::uint32_t>(plan.tiles_named));
  if (plan.name == nullptr) return refused(Status::bad_packet, "a plan whose name is NULL: a text expected");
  if (Refusal wrong = validate_numbers(plan)) return wrong;
  const std::uint64_t begin = address_map::on_gpu(gpu, 0);
  const t3_range here{begin, begin + memory_bytes}, elsewhere{0, memory_bytes};
  Refusal wrong = validate_ranges("writes", plan.written, plan.written_count, here);
  if (!wrong) wrong = validate_ranges("reads", plan.read, plan.read_count, here);
  if (!wrong) wrong = validate_ranges("sends to", plan.sent, plan.sent_count, elsewhere);
  if (!wrong) wrong = validate_ranges("fetches from", plan.fetched, plan.fetched_count, elsewhere);
  if (!wrong) wrong = validate_ranges("shares", plan.shared, plan.shared_count, elsewhere);
  return wrong;
}

std::uint32_t resident_workgroups(const t3_plan& plan, const t3_device& device) {
  constexpr std::uint32_t most = T3_WORKGROUPS_PER_CU_MAX;
  const auto fit = [](std::uint32_t all, std::uint32_t each) { return each == 0 ? most : all / each; };
  return std::min({plan.workgroups_per_cu, fit(device.register_bytes, plan.register_bytes),
                   fit(device.local_bytes, plan.local_bytes)});
}

Refusal validate_residency(const t3_plan& plan, const t3_device& device, std::uint32_t compute_units) {
  if (plan.workgroups_per_cu == 0)
    return refused(
        Status::bad_packet,
        "a workgroup takes {} bytes of registers and {} of local memory: at most {} and {}, what a compute unit has, "
        "expected",
        plan.register_bytes, plan.local_bytes, device.register_bytes, device.local_bytes);
  const std::uint64_t fit = std::uint64_t{compute_units} * plan.workgroups_per_cu;
  if (plan.together && plan.workgroups > fit)
    return refused(Status::bad_packet, "{} workgroups that wait for each other: 1 to {} that fit at once expected",
                   plan.workgroups, fit);
  const std::uint64_t waves = fit * plan.waves, tiles = waves * plan.tiles;
  if (waves > T3_RESIDENT_WAVES_MAX || tiles > T3_RESIDENT_TILES_MAX)
    return refused(Status::bad_packet, "{} waves that run at once with {} tiles: up to {} with {} expected", waves,
                   tiles, static_cast<int>(T3_RESIDENT_WAVES_MAX), static_cast<int>(T3_RESIDENT_TILES_MAX));
  return {};
}

namespace {

Refusal validate_tile(const t3_tile& tile, std::uint32_t tiles) {
  if (!is_known(tile.element)) return refused(Status::aborted, "{}: {} expected", text_of(tile), known_elements);
  if (is_tile(tile, tiles)) return {};
  return refused(Status::aborted, "{}: one of the wave's {}, with elements, up to {}, expected", text_of(tile), tiles,
                 static_cast<int>(T3_TILE_ELEMENTS_MAX));
}

Refusal validate_bools(const t3_call& call) {
  const t3_access& access = call.access;
  Refusal wrong = validate_bools("an access", {{"uncached", access.uncached}});
  if (wrong || call.kind == T3_CALL_LOAD) return wrong;
  return validate_bools("an access", {{"at_once", access.at_once}, {"of.named", access.of.named}});
}

Refusal validate_access(const t3_call& call, std::uint32_t tiles) {
  const t3_tile& tile = call.tile;
  const t3_access& access = call.access;
  if (Refusal wrong = validate_bools(call)) return wrong;
  if (Refusal wrong = validate_tile(tile, tiles)) return wrong;
  const bool within = access.rows != 0 && access.columns != 0 && std::uint64_t{access.row} + access.rows <= tile.rows &&
                      std::uint64_t{access.column} + access.columns <= tile.columns;
  if (!within)
    return refused(Status::aborted, "an access of {} x {} elements from ({}, {}) on: a part of {} expected",
                   access.rows, access.columns, access.row, access.column, text_of(tile));
  if (!is_known(access.element))
    return refused(Status::aborted, "an access of {}: {} expected", name_of(access.element), known_elements);
  if (access.element != tile.element && tile.element != T3_FP32)
    return refused(Status::aborted, "an access of {} elements: those of {}, or fp32 there, expected",
                   name_of(access.element), text_of(tile));
  return {};
}

Refusal validate_product(const t3_product& product, std::uint32_t tiles) {
  if (Refusal wrong = validate_bools(
          "a product",
          {{"transpose_a", product.transpose_a}, {"transpose_b", product.transpose_b}, {"adds", product.adds}}))
    return wrong;
  for (const t3_tile& tile : {product.sum, product.a, product.b})
    if (Refusal wrong = validate_tile(tile, tiles)) return wrong;
  if (product.sum.index == product.a.index || product.sum.index == product.b.index ||
      product.a.index == product.b.index)
    return refused(Status::aborted, "a product of tiles {} and {} in {}: different ones expected", product.a.index,
                   product.b.index, product.sum.index);
  const std::uint32_t m = product.sum.rows, n = product.sum.columns;
  const std::uint32_t k = product.transpose_a ? product.a.rows : product.a.columns;
  const bool right = fits(product.sum, m, n) && (product.transpose_a ? fits(product.a, k, m) : fits(product.a, m, k)) &&
                     (product.transpose_b ? fits(product.b, n, k) : fits(product.b, k, n));
  if (!right)
    return refused(Status::aborted, "a product of {} and {} in {}: fp32 tiles that fit expected", text_of(product.a),
                   text_of(product.b), text_of(product.sum));
  if (product.m < m || product.n < n || product.k < k)
    return refused(
        Status::aborted,
        "a product of {} x {} times {} x {} elements as one of {} x {} times {} x {}: no smaller one expected", m, k, k,
        n, product.m, product.k, product.k, product.n);
  return {};
}

Refusal validate_sum(const t3_tile& sum, const t3_tile& addend, std::uint32_t tiles) {
  for (const t3_tile& tile : {sum, addend})
    if (Refusal wrong = validate_tile(tile, tiles)) return wrong;
  if (sum.rows != addend.rows || sum.columns != addend.columns || sum.element != addend.element)
    return refused(Status::aborted, "a sum of {} and {}: tiles alike expected", text_of(sum), text_of(addend));
  return {};
}

Refusal validate_work(const t3_vector_work& work, std::uint32_t tiles) {
  if (work.operands > T3_OPERANDS_MAX || !(work.operations >= 0) || std::isinf(work.operations))
    return refused(Status::aborted, "work of {} operations on {} tiles: 0 or more on at most {} expected",
                   work.operations, work.operands, static_cast<int>(T3_OPERANDS_MAX));
  for (std::uint32_t i = 0; i < work.operands; ++i) {
    if (Refusal wrong = validate_tile(work.tiles[i], tiles)) return wrong;
    for (std::uint32_t other = 0; other < i; ++other)
      if (work.tiles[i].index == work.tiles[other].index)
        return refused(Status::aborted, "work on tile {} twice: different ones expected", work.tiles[i].index);
    if (work.tiles[i].element != T3_FP32)
      return refused(Status::aborted, "work on {}: fp32 expected", text_of(work.tiles[i]));
  }
  return {};
}

/// All that the access touches lies in this range; nothing is returned when it ends beyond all addresses.
std::optional<t3_range> range_of(const t3_access& access) {
  std::uint64_t rows = 0, end = 0;
  const std::uint64_t row = std::uint64_t{access.columns} * t3_element_bytes(access.element);
  if (__builtin_mul_overflow(access.stride, std::uint64_t{access.rows} - 1, &rows) ||
      __builtin_add_overflow(rows, row, &end) || __builtin_add_overflow(end, access.address, &end))
    return {};
  return t3_range{access.address, end};
}

Refusal validate_load(const t3_range& range, const t3_plan& plan, std::uint16_t gpu) {
  if (const std::uint64_t from = address_map::gpu_of(range.begin); from != gpu) {
    const std::uint64_t base = address_map::on_gpu(from, 0);
    if (is_in({range.begin - base, range.end - base}, plan.fetched, plan.fetched_count)) return {};
    return refused(Status::aborted,
                   "a load from {} of {}: its plan fetches from {} of other GPUs, memory of this expected",
                   place_of(range), gpu_name(from), places_of(plan.fetched, plan.fetched_count));
  }
  if (is_in(range, plan.read, plan.read_count) || is_in(range, plan.written, plan.written_count)) return {};
  return refused(Status::aborted, "a load from {}: its plan reads {} and writes {}, memory of these expected",
                 place_of(range), places_of(plan.read, plan.read_count), places_of(plan.written, plan.written_count));
}

/// Maps take a kernel by its word.
Refusal validate_name(const t3_call& call, const t3_range& range, const t3_plan& plan) {
  if (plan.tiles_named != T3_TILES_NAMED) return {};
  if (!call.access.of.named)
    return refused(Status::aborted, "a store to {} that names no tile: its plan says T3_TILES_NAMED, a name expected",
                   place_of(range));
  if (call.kind == T3_CALL_STORE && !call.access.uncached)
    return refused(
        Status::aborted,
        "a store to {} through the cache, which forgets its tile: its plan says T3_TILES_NAMED, an uncached one "
        "expected",
        place_of(range));
  return {};
}

Refusal validate_store(const t3_call& call, const t3_range& range, const t3_plan& plan, std::uint16_t gpu) {
  const std::uint64_t to = address_map::gpu_of(range.begin);
  if (to == gpu) {
    if (!plan.stores_here)
      return refused(Status::aborted,
                     "a store to {} of its own GPU: its plan says that it stores nothing there, another one expected",
                     place_of(range));
    if (is_in(range, plan.written, plan.written_count)) return validate_name(call, range, plan);
    return refused(Status::aborted, "a store to {}: its plan writes {}, memory of this expected", place_of(range),
                   places_of(plan.written, plan.written_count));
  }
  const std::uint64_t base = address_map::on_gpu(to, 0);
  const t3_range local{range.begin - base, range.end - base};
  if (to == address_map::all_gpus) {
    const std::uint64_t here = address_map::on_gpu(gpu, 0);
    if (!is_in({here + local.begin, here + local.end}, plan.written, plan.written_count))
      return refused(Status::aborted,
                     "a store to {} of all GPUs: its plan writes {}, memory of this on its own GPU expected",
                     place_of(range), places_of(plan.written, plan.written_count));
  }
  if (is_in(local, plan.sent, plan.sent_count))
    return to == address_map::all_gpus ? validate_name(call, range, plan) : Refusal{};
  return refused(Status::aborted, "a store to {} of {}: its plan sends to {} of other GPUs, memory of this expected",
                 place_of(range), gpu_name(to), places_of(plan.sent, plan.sent_count));
}

/// Elements and rows as memory takes them.
Refusal validate_layout(const t3_call& call) {
  const t3_access& access = call.access;
  const std::uint64_t bytes = t3_element_bytes(access.element), row = access.columns * bytes;
  const auto rows = [&access] {
    return fmt::format("an access of {} rows {} bytes apart at {:#x}", access.rows, access.stride, access.address);
  };
  if (access.address % bytes != 0 || (access.rows > 1 && access.stride % bytes != 0))
    return refused(Status::aborted, "{} of {} elements: multiples of {} expected", rows(), name_of(access.element),
                   bytes);
  // All of them may be loaded from one place.
  if (call.kind != T3_CALL_LOAD && access.rows > 1 && access.stride < row)
    return refused(Status::aborted, "{} that stores {} bytes each: rows that do not overlap expected", rows(), row);
  return {};
}

Refusal validate_place(const t3_call& call, const t3_plan& plan, std::uint16_t gpu) {
  const std::optional<t3_range> range = range_of(call.access);
  if (!range)
    return refused(Status::aborted, "an access of {} rows {} bytes apart at {:#x}: addresses expected that there are",
                   call.access.rows, call.access.stride, call.access.address);
  if (Refusal wrong = validate_layout(call)) return wrong;
  return call.kind == T3_CALL_LOAD ? validate_load(*range, plan, gpu) : validate_store(call, *range, plan, gpu);
}

/// Refuses a signal whose range of earlier stores is not within the plan.
Refusal validate_stored(const t3_counter& counter, const t3_plan& plan, std::uint16_t gpu) {
  const t3_range& stored = counter.stored;
  if (stored.begin > stored.end)
    return refused(Status::aborted, "a signal that says that stores went to {:#x} up to {:#x}: a range expected",
                   stored.begin, stored.end);
  if (stored.begin == stored.end) return {};
  const std::uint64_t to = address_map::gpu_of(counter.address), base = address_map::on_gpu(to, 0);
  const bool is_here = to == gpu;
  const bool is_planned = is_here ? is_in(stored, plan.written, plan.written_count)
                                  : is_in({stored.begin - base, stored.end - base}, plan.sent, plan.sent_count);
  if (is_planned) return {};
  return refused(Status::aborted,
                 "a signal to {} that says that stores went to {}: its plan {}, memory of this expected there",
                 gpu_name(to), place_of(stored),
                 is_here ? "writes " + places_of(plan.written, plan.written_count)
                         : "sends to " + places_of(plan.sent, plan.sent_count) + " of other GPUs");
}

/// Counters are registers: of any GPU to add to, of the own one to wait for.
Refusal validate_counter(const t3_call& call, const t3_plan& plan, std::uint16_t gpu) {
  using Counters = registers::Signals;
  const bool adds = call.kind == T3_CALL_SIGNAL;
  const t3_counter& counter = call.counter;
  const std::uint64_t base =
      address_map::block_base(address_map::Block::signals) + (adds ? Counters::add_offset : Counters::value_offset);
  const std::uint64_t offset = address_map::local_of(counter.address) - base;
  const bool is_here = adds || address_map::gpu_of(counter.address) == gpu;
  if (!is_here || offset % 8 != 0 || offset / 8 >= Counters::value_count)
    return refused(Status::aborted, "a {} {:#x}: one of the {} counters at {:#x} of {} expected",
                   adds ? "signal to" : "wait for", counter.address, static_cast<int>(Counters::value_count), base,
                   adds ? "a GPU" : "this GPU");
  if (adds && offset / 8 == T3_SIGNAL_BARRIER)
    return refused(Status::aborted, "a signal to {:#x}: counter {} is the barrier's, another one expected",
                   counter.address, T3_SIGNAL_BARRIER);
  return adds ? validate_stored(counter, plan, gpu) : Refusal{};
}

Refusal validate_text(const char* text, const char* found) {
  return text != nullptr ? Refusal{} : refused(Status::aborted, "{}: a text expected", found);
}

}  // namespace

Refusal validate_call(const t3_call& call, const t3_plan& plan, std::uint16_t gpu) {
  switch (call.kind) {
    case T3_CALL_LOAD:
    case T3_CALL_STORE:
    case T3_CALL_UPDATE: {
      Refusal wrong = validate_access(call, plan.tiles);
      return wrong ? wrong : validate_place(call, plan, gpu);
    }
    case T3_CALL_MULTIPLY:
      return validate_product(call.product, plan.tiles);
    case T3_CALL_ADD:
      return validate_sum(call.tile, call.addend, plan.tiles);
    case T3_CALL_WORK:
      return validate_work(call.work, plan.tiles);
    case T3_CALL_WAIT_TILE:
      return validate_tile(call.tile, plan.tiles);
    case T3_CALL_SIGNAL:
    case T3_CALL_WAIT_COUNTER:
      return validate_counter(call, plan, gpu);
    case T3_CALL_FETCH_ADD:
    case T3_CALL_READ:
    case T3_CALL_WRITE:
    case T3_CALL_WAIT_VALUE:
      return validate_shared(call, plan, gpu);
    case T3_CALL_FAIL:
      return validate_text(call.failure, "a failure that says nothing");
    case T3_CALL_TRACE_MARK:
      return validate_text(call.mark.text, "an instant of the timeline without a name");
    case T3_CALL_TRACE_SPAN:
      return validate_text(call.span.text, "a name for the timeline that is none");
    case T3_CALL_FENCE:
    case T3_CALL_WORKGROUP_BARRIER:
      return {};
  }
  return refused(Status::aborted, "call {}: there is no such call of a device", call.kind);
}

}  // namespace t3vp::compute
