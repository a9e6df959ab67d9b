#include "compute/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compute/device_mistakes.h"
#include "protocol/element.h"
#include "protocol/traffic_classes.h"
#include "protocol/truncating_adder.h"

namespace t3vp::compute {
namespace {
constexpr const char* stray_call = "it calls the device for another wave, from its work, or for nothing";
constexpr const char* program_left_floats = "its program calls the device or ends, and leaves ";
constexpr double end_of_time_ps = 4e18;  // 46 days: sums of two of them are within the range of times
}  // namespace

t3_device device_of(const ComputeParameters& p) {
  t3_device device{};
  device.compute_units = p.compute_units;
  device.tile_rows = p.tile_rows;
  device.tile_columns = p.tile_columns;
  device.workgroups_per_cu = p.workgroups_per_cu;
  device.slab_depth = p.slab_depth;
  device.prefetch_slabs = p.prefetch_slabs;
  device.ring_workgroups_per_cu = p.ring_workgroups_per_cu;
  device.ring_block_bytes = p.ring_block_bytes;
  device.ring_blocks_in_flight = p.ring_blocks_in_flight;
  device.row_workgroups_per_cu = p.row_workgroups_per_cu;
  device.row_block_bytes = p.row_block_bytes;
  device.register_bytes = p.register_bytes;
  device.local_bytes = p.local_bytes;
  return device;
}

KernelRun::KernelRun(KernelHost& host, FiberStacks& stacks, const t3_kernel& kernel, Arguments arguments,
                     const t3_plan& plan, std::string name, RingAgreement agreement)
    : host_(host),
      stacks_(stacks),
      kernel_(kernel),
      device_(device_of(host.parameters())),
      arguments_(std::move(arguments)),
      plan_(plan),
      name_(std::move(name)),
      reads_(traffic_class_of(kernel.reads).value()),
      writes_(traffic_class_of(kernel.writes).value()),
      waves_(std::size_t{device_.compute_units} * plan_.workgroups_per_cu * plan_.waves),
      workgroups_(std::size_t{device_.compute_units} * plan_.workgroups_per_cu),
      tiles_(waves_.size(), plan_.tiles, host.functional()),
      local_(workgroups_.size(), plan_.local_bytes),
      agreement_(std::move(agreement)) {}

KernelRun::~KernelRun() {
  for (const Wave& wave : waves_)
    if (wave.fiber.stack().bytes != 0) stacks_.give_back(wave.fiber.stack());
}

void KernelRun::start(Slot slot, std::uint32_t index) {
  Workgroup& workgroup = workgroups_[slot];
  workgroup = {};
  workgroup.running = plan_.waves;
  workgroup.begin = now();
  void* const local = local_.clear(slot);
  for (std::uint32_t number = 0; number < plan_.waves; ++number) {
    Wave& wave = waves_[std::size_t{slot} * plan_.waves + number];
    wave.given = {&KernelRun::call, &device_, arguments_.data(), local, index, plan_.workgroups, number, plan_.waves};
    static_cast<t3_wave&>(wave) = wave.given;
    wave.run = this;
    wave.slot = slot;
    tiles_.clear(index_of(wave));
    wave.waiting = nullptr;
    wave.under_way = false;
    wave.fiber.start(wave.fiber.stack().bytes != 0 ? wave.fiber.stack() : stacks_.take(), &KernelRun::enter, &wave);
    ready_.push_back(&wave);
  }
  run_ready();
}

void KernelRun::enter(void* argument) {
  auto* wave = static_cast<Wave*>(argument);
  wave->run->kernel_.run(wave);
  left_floats = restore_floats();
}

/// Only the program that runs can be suspended. Others may have kept the wave of one that has ended.
void KernelRun::call(t3_wave* caller, const t3_call* call) {
  if (stepped == nullptr && !computes) std::abort();  // firmware's, which its guard tells
  if (stepped != caller || call == nullptr) {
    strayed = true;
    return;
  }
  auto* const wave = static_cast<Wave*>(caller);
  wave->asked = *call;
  left_floats = restore_floats();
  wave->fiber.yield(&wave->asked);
}

void KernelRun::go_on(Wave& wave) {
  wave.waiting = nullptr;
  wave.under_way = false;
  ready_.push_back(&wave);
  run_ready();
}

/// A wave that is stepped may let others go on, or its end may let the next workgroup start: they are stepped behind
/// it.
void KernelRun::run_ready() {
  if (running_ready_) return;
  running_ready_ = true;
  while (!ready_.empty() && !failed_) {
    stepping_.swap(ready_);
    for (std::size_t i = 0; i < stepping_.size() && !failed_; ++i) step(*stepping_[i]);
    stepping_.clear();
  }
  ready_.clear();
  running_ready_ = false;
}

KernelCode KernelRun::code_of(const Wave& wave) const {
  return {kernel_.name, "its program", wave.given.workgroup, wave.given.wave};
}

/// Until it has to wait.
void KernelRun::step(Wave& wave) {
  for (;;) {
    stepped = &wave;
    strayed = false;
    const KernelCode code = code_of(wave);
    host_.code_runs(&code);
    const auto* asked = static_cast<const t3_call*>(wave.fiber.resume());
    host_.code_runs(nullptr);
    stepped = nullptr;
    if (!wave.fiber.intact())
      return fail(wave, fmt::format("its program has used more than its stack of {} bytes", T3_WAVE_STACK_BYTES));
    if (!local_.intact(wave.slot))
      return fail(wave, fmt::format("it has written behind the {} bytes of its local memory", plan_.local_bytes));
    if (strayed) return fail(wave, stray_call);
    if (left_floats) return fail(wave, std::string(program_left_floats) + other_floats);
    if (std::memcmp(static_cast<const t3_wave*>(&wave), &wave.given, sizeof(t3_wave)) != 0)
      return fail(wave, "it has changed its struct t3_wave, which is the compute unit's");
    if (asked == nullptr) return ended(wave);
    if (const std::string wrong = mistake(wave, *asked); !wrong.empty()) return fail(wave, wrong);
    wave.waiting = asked;
    if (!serve(wave)) return;
    wave.waiting = nullptr;
  }
}

void KernelRun::ended(Wave& wave) {
  Workgroup& workgroup = workgroups_[wave.slot];
  if (wave.loads + wave.stores != 0)
    return fail(wave, fmt::format("it ends with {} loads and {} stores under way", wave.loads, wave.stores));
  if (workgroup.met != 0)
    return fail(wave, fmt::format("it ends while {} waves of its workgroup wait for it in t3_meet", workgroup.met));
  if (--workgroup.running != 0) return;
  Trace::Track track = 0;
  if (Trace* trace = host_.trace(wave.slot, track)) {
    const bool renamed = !workgroup.shown.empty();
    trace->span(track, name_.c_str(), workgroup.begin, renamed ? workgroup.shown_since : now());
    if (renamed)
      trace->span(track, workgroup.shown.c_str(), workgroup.shown_since, now(),
                  flow_of(host_.gpu(), workgroup.shown_workgroup, 0));
  }
  host_.finished(wave.slot);
}

/// Whether the call that the wave waits in is done.
bool KernelRun::serve(Wave& wave) {
  if (wave.under_way) return false;
  const t3_call& asked = *wave.waiting;
  switch (asked.kind) {
    case T3_CALL_LOAD:
      load(wave);
      return true;
    case T3_CALL_STORE:
    case T3_CALL_UPDATE:
      if (!is_here(wave, asked.tile)) return false;
      store(wave, asked.kind == T3_CALL_STORE ? Operation::store : Operation::update);
      return true;
    case T3_CALL_ARRIVE:
      return is_here(wave, asked.tile);
    case T3_CALL_DRAIN:
      return wave.stores == 0;
    case T3_CALL_SHOW: {
      const KernelTime time(host_, code_of(wave));
      Workgroup& workgroup = workgroups_[wave.slot];
      workgroup.shown = asked.show.text;
      workgroup.shown_since = now();
      workgroup.shown_workgroup = asked.show.workgroup;
      return true;
    }
    default:
      return begin(wave);
  }
}

/// Calls that take their time.
bool KernelRun::begin(Wave& wave) {
  const t3_call& asked = *wave.waiting;
  switch (asked.kind) {
    case T3_CALL_MULTIPLY:
      if (!is_here(wave, asked.product.a) || !is_here(wave, asked.product.b) || !is_here(wave, asked.product.sum))
        return false;
      return occupy(wave, asked);
    case T3_CALL_ADD:
      return is_here(wave, asked.tile) && is_here(wave, asked.addend) && occupy(wave, asked);
    case T3_CALL_WORK: {
      const t3_vector_work& work = asked.work;
      if (!std::all_of(work.tiles, work.tiles + work.operands, [&](const t3_tile& t) { return is_here(wave, t); }))
        return false;
      if (work.operations != 0) return occupy(wave, asked);
      tiles_.begin(index_of(wave), asked);
      if (host_.functional()) finish(wave, asked);
      return !failed_;
    }
    case T3_CALL_SIGNAL:
      signal(wave);
      return false;
    case T3_CALL_FETCH_ADD:
      fetch_add(wave);
      return false;
    case T3_CALL_AWAIT:
      await(wave);
      return false;
    default:
      return meet(wave);
  }
}

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
  wave.under_way = true;
  tiles_.begin(index_of(wave), work);
  host_.schedule(end, wave.slot, wave.given.wave);
  return false;
}

/// The last one to come lets the others go on.
bool KernelRun::meet(Wave& wave) {
  Workgroup& workgroup = workgroups_[wave.slot];
  if (workgroup.running != plan_.waves) {
    fail(wave, fmt::format("it waits in t3_meet for {} waves of its workgroup that have ended",
                           plan_.waves - workgroup.running));
    return false;
  }
  wave.under_way = true;
  if (++workgroup.met != plan_.waves) return false;
  workgroup.met = 0;
  for (std::uint32_t number = 0; number < plan_.waves; ++number) {
    Wave& other = waves_[std::size_t{wave.slot} * plan_.waves + number];
    other.under_way = false;
    if (&other != &wave) ready_.push_back(&other);
  }
  return true;
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

/// What the kernel computes by itself.
void KernelRun::compute(Wave& wave, const t3_vector_work& work) {
  if (work.compute == nullptr) return;
  std::array<float*, T3_OPERANDS_MAX> operands{};
  for (std::uint32_t i = 0; i < work.operands; ++i) {
    operands[i] = reinterpret_cast<float*>(contents(wave, work.tiles[i]).bytes.data());
    fence(contents(wave, work.tiles[i]), work.tiles[i]);
  }
  strayed = false;
  computes = true;
  {
    const KernelTime time(host_, code_of(wave));
    work.compute(work.argument, operands.data());
    left_floats = restore_floats();
  }
  computes = false;
  if (strayed) return fail(wave, stray_call);
  if (left_floats) return fail(wave, std::string("its work leaves ") + other_floats);
  for (std::uint32_t i = 0; i < work.operands; ++i)
    if (!is_fenced(contents(wave, work.tiles[i]), work.tiles[i]))
      return fail(wave, fmt::format("its work has written behind {}", text_of(work.tiles[i])));
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

void KernelRun::fail(const Wave& wave, const std::string& what) {
  failed_ = true;
  host_.fail(
      fmt::format("kernel {}: workgroup {}, wave {}: {}", kernel_.name, wave.given.workgroup, wave.given.wave, what));
}

/// What a program must not ask for; empty when there is nothing wrong.
std::string KernelRun::mistake(const Wave& wave, const t3_call& call) const {
  std::string wrong = mistake_of_call(call, plan_, host_.gpu());
  if (wrong.empty()) wrong = tiles_.mistake(index_of(wave), call);
  if (wrong.empty() && call.kind <= T3_CALL_UPDATE && wave.loads + wave.stores >= T3_ACCESSES_MAX)
    return fmt::format("{} loads and stores are under way: less than {} expected, t3_arrive or t3_drain waits for them",
                       wave.loads + wave.stores, static_cast<int>(T3_ACCESSES_MAX));
  return wrong.empty() && call.kind == T3_CALL_LOAD ? mistake_of_load(wave, call) : wrong;
}

/// Of two loads into the same elements that are under way, memory's timing would say which one they hold.
std::string KernelRun::mistake_of_load(const Wave& wave, const t3_call& call) const {
  if (is_here(wave, call.tile)) return {};
  const auto meet = [](std::uint64_t a, std::uint64_t length_a, std::uint64_t b, std::uint64_t length_b) {
    return a < b + length_b && b < a + length_a;
  };
  const t3_access& part = call.access;
  for (const Access& access : accesses_) {
    if (access.wave != &wave || access.kind != T3_CALL_LOAD || access.tile.index != call.tile.index) continue;
    const t3_access& other = access.part;
    if (meet(part.row, part.rows, other.row, other.rows) &&
        meet(part.column, part.columns, other.column, other.columns))
      return fmt::format(
          "a load of {} x {} elements into {} from ({}, {}) on: another load into some of them is under "
          "way, t3_arrive before it expected",
          part.rows, part.columns, text_of(call.tile), part.row, part.column);
  }
  return {};
}

}  // namespace t3vp::compute
