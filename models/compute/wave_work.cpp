#include "compute/wave_work.h"

#include <fmt/format.h>

#include <array>

#include "compute/device_mistakes.h"
#include "compute/wave_programs.h"
#include "protocol/element.h"
#include "protocol/truncating_adder.h"

namespace t3vp::compute {
namespace {
constexpr double end_of_time_ps = 4e18;  // 46 days: sums of two of them are within the range of times
}  // namespace

WaveWork::Need WaveWork::need_of(const t3_call& work) const {
  const ComputeParameters& p = host_.parameters();
  if (work.kind == T3_CALL_WORK)
    return {CoreWork::vector, static_cast<double>(work.work.operations), p.vector_elements_per_cycle};
  if (work.kind == T3_CALL_ADD)
    return {CoreWork::vector, static_cast<double>(work.tile.rows) * work.tile.columns, p.vector_elements_per_cycle};
  return {CoreWork::matrix, 2.0 * work.product.m * work.product.n * work.product.k,
          p.matrix_flops_per_cycle * p.matrix_efficiency};
}

/// Returns the share of a product's time for rows, columns and depth that the tiles at the edges do not have.
double WaveWork::clipped_share(const t3_call& work) {
  if (work.kind != T3_CALL_MULTIPLY) return 0;
  const t3_product& p = work.product;
  const double depth = p.transpose_a ? p.a.rows : p.a.columns, all = 1.0 * p.m * p.n * p.k;
  return all == 0 ? 0 : 1 - p.sum.rows * 1.0 * p.sum.columns * depth / all;
}

Refusal WaveWork::occupy(Wave& wave, const t3_call& work) {
  const Need need = need_of(work);
  const double cycles = need.operations / need.operations_per_cycle, GHz = host_.begin_work(need.work, need.operations);
  Picoseconds end = 0;
  if (cycles * 1000 / GHz < end_of_time_ps)
    end = host_.occupy(wave.slot, {cycle_time(cycles, GHz), clipped_share(work), wave.given.workgroup});
  if (end == 0 || static_cast<double>(end) > end_of_time_ps)
    return refused(Status::aborted, "work of {} cycles: work that ends within {:.0f} s of simulated time expected",
                   cycles, end_of_time_ps / 1e12);
  wave.ends_later = true;
  tiles_.begin(wave.place, work);
  if (work.kind == T3_CALL_MULTIPLY) end += from_ns(work.product.step_ns);
  if (work.kind == T3_CALL_WORK) end += from_ns(work.work.step_ns);
  host_.schedule(end, wave.slot, wave.given.wave);
  return {};
}

Refusal WaveWork::finish(Wave& wave, const t3_call& work) {
  if (work.kind == T3_CALL_WORK) return compute(wave, work.work);
  if (work.kind == T3_CALL_ADD) {
    add(wave, work.tile, work.addend);
    return {};
  }
  const t3_product& product = work.product;
  multiplier_.multiply(product, contents(wave, product.sum), contents(wave, product.a), contents(wave, product.b));
  return {};
}

/// Runs the kernel's own function on the operands.
Refusal WaveWork::compute(Wave& wave, const t3_vector_work& work) {
  if (work.compute == nullptr) return {};
  std::array<float*, T3_OPERANDS_MAX> operands{};
  for (std::uint32_t i = 0; i < work.operands; ++i)
    operands[i] = reach_.lent_tiles.lend(i, contents(wave, work.tiles[i]).bytes);
  const bool returned = WavePrograms::compute(host_, wave, work, operands.data());
  if (Refusal wrong = validate_computed(wave, work, returned)) return wrong;
  for (std::uint32_t i = 0; i < work.operands; ++i) reach_.lent_tiles.take_back(i, contents(wave, work.tiles[i]).bytes);
  return {};
}

Refusal WaveWork::validate_computed(const Wave& wave, const t3_vector_work& work, bool returned) const {
  if (!returned)
    return refused(Status::aborted, "its work has jumped to where a program has been called: its own return expected");
  if (WavePrograms::has_strayed()) return refused(Status::aborted, stray_call);
  if (WavePrograms::has_left_floats()) return {Status::aborted, std::string("its work leaves ") + other_floats};
  for (std::uint32_t i = 0; i < work.operands; ++i)
    if (const char* where = reach_.lent_tiles.written_beside(i))
      return refused(Status::aborted, "its work has written {} {}", where, text_of(work.tiles[i]));
  if (const char* where = reach_.local.written_beside(wave.slot))
    return refused(Status::aborted, "its work has written {} the {} bytes of its local memory", where,
                   reach_.local_bytes);
  return reach_.given.is_changed() ? refused(Status::aborted, changed_given) : Refusal{};
}

void WaveWork::add(const Wave& wave, const t3_tile& sum, const t3_tile& addend) {
  const auto element = static_cast<ElementType>(sum.element);
  const TileContents& other = contents(wave, addend);
  unsigned char* const target = contents(wave, sum).bytes.data();
  const std::size_t count = std::size_t{sum.rows} * sum.columns;
  if (!host_.parameters().wrong_rounding) return add_elements(element, target, other.bytes.data(), count);
  if (add_elements_truncating(element, target, other.bytes.data(), count))
    host_.wrongly_rounded(
        fmt::format("load of {} bytes at {:#x} at {:.3f} ns", count * bytes_of(element), other.address, to_ns(now())));
}

}  // namespace t3vp::compute
