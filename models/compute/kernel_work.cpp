// What the waves of a kernel compute.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/device_mistakes.h"
#include "compute/kernel_run.h"
#include "protocol/element.h"
#include "protocol/truncating_adder.h"

namespace t3vp::compute {
namespace {
constexpr double end_of_time_ps = 4e18;  // 46 days: sums of two of them are within the range of times
}  // namespace

/// How long the matrix or vector unit of the compute unit takes.
double KernelRun::cycles_of(const t3_call& work) const {
  const ComputeParameters& p = host_.parameters();
  if (work.kind == T3_CALL_WORK) return work.work.operations / p.vector_elements_per_cycle;
  if (work.kind == T3_CALL_ADD)
    return static_cast<double>(work.tile.rows) * work.tile.columns / p.vector_elements_per_cycle;
  return 2.0 * work.product.m * work.product.n * work.product.k / (p.matrix_flops_per_cycle * p.matrix_efficiency);
}

bool KernelRun::occupy(Wave& wave, const t3_call& work) {
  const double cycles = cycles_of(work), GHz = host_.parameters().clock_GHz;
  Picoseconds end = 0;
  if (cycles * 1000 / GHz < end_of_time_ps) end = host_.occupy(wave.slot, cycle_time(cycles, GHz));
  if (end == 0 || static_cast<double>(end) > end_of_time_ps) {
    fail(wave, fmt::format("work of {} cycles: work that ends within {:.0f} s of simulated time expected", cycles,
                           end_of_time_ps / 1e12));
    return false;
  }
  wave.in_flight = true;
  tiles_.begin(index_of(wave), work);
  host_.schedule(end, wave.slot, wave.given.wave);
  return false;
}

void KernelRun::elapsed(Slot slot, std::uint32_t number) {
  Wave& wave = waves_[std::size_t{slot} * plan_.waves + number];
  if (host_.functional()) finish(wave, *wave.waiting);
  if (!failed_) go_on(wave);
}

/// What the work that has taken its time has computed.
void KernelRun::finish(Wave& wave, const t3_call& work) {
  if (work.kind == T3_CALL_ADD) return add(wave, work.tile, work.addend);
  if (work.kind == T3_CALL_WORK) return compute(wave, work.work);
  const t3_product& product = work.product;
  multiplier_.multiply(product, contents(wave, product.sum), contents(wave, product.a), contents(wave, product.b));
}

namespace {

/// False when it has not: it has gone on where another program has been called, which has been told and has ended.
bool returns(const t3_vector_work& work, float* const* operands, void** way_back) {
  if (__builtin_setjmp(way_back) != 0) return false;
  work.compute(work.argument, operands);
  return true;
}

}  // namespace

/// What the kernel computes by itself.
void KernelRun::compute(Wave& wave, const t3_vector_work& work) {
  if (work.compute == nullptr) return;
  std::array<float*, T3_OPERANDS_MAX> operands{};
  for (std::uint32_t i = 0; i < work.operands; ++i)
    operands[i] = lent_tiles_.lend(i, contents(wave, work.tiles[i]).bytes);
  strayed = false;
  computing = &wave;
  bool returned = false;
  {
    const KernelTime time(host_, code_of(wave));
    returned = returns(work, operands.data(), way_back);
    left_floats = restore_floats();
  }
  computing = nullptr;
  if (const std::string wrong = validate_computed(wave, work, returned); !wrong.empty()) return fail(wave, wrong);
  for (std::uint32_t i = 0; i < work.operands; ++i) lent_tiles_.take_back(i, contents(wave, work.tiles[i]).bytes);
}

std::string KernelRun::validate_computed(const Wave& wave, const t3_vector_work& work, bool returned) const {
  if (!returned) return "its work has jumped to where a program has been called: its own return expected";
  if (strayed) return stray_call;
  if (left_floats) return std::string("its work leaves ") + other_floats;
  for (std::uint32_t i = 0; i < work.operands; ++i)
    if (const char* where = lent_tiles_.written_beside(i))
      return fmt::format("its work has written {} {}", where, text_of(work.tiles[i]));
  if (const char* where = local_.written_beside(wave.slot))
    return fmt::format("its work has written {} the {} bytes of its local memory", where, plan_.local_bytes);
  return has_changed_given() ? changed_given : std::string();
}

void KernelRun::add(Wave& wave, const t3_tile& sum, const t3_tile& addend) {
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
