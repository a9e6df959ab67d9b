#include "compute/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/device_mistakes.h"
#include "compute/wave_programs.h"

namespace t3vp::compute {
namespace {
constexpr const char* program_left_floats = "its program calls the device or ends, and leaves ";
}  // namespace

KernelRun::KernelRun(KernelHost& host, FiberStacks& stacks, LentTiles& lent_tiles, const t3_kernel& kernel,
                     KernelArguments arguments, const t3_plan& plan, std::string name, RingAgreement agreement)
    : host_(host),
      stacks_(stacks),
      kernel_(kernel),
      given_(device_of(host.parameters()), std::move(arguments), kernel.arguments.size),
      plan_(plan),
      waves_(std::size_t{host.parameters().compute_units} * plan_.workgroups_per_cu * plan_.waves),
      workgroups_(std::size_t{host.parameters().compute_units} * plan_.workgroups_per_cu),
      tiles_(waves_.size(), plan_.tiles, host.functional()),
      local_(workgroups_.size(), plan_.local_bytes),
      agreement_(std::move(agreement)),
      accesses_(host, plan_),
      transfers_(host, kernel, accesses_, tiles_, agreement_),
      bytes_(host, accesses_, agreement_),
      polls_(host, accesses_, bytes_),
      work_(host, tiles_, {lent_tiles, local_, plan_.local_bytes, given_}),
      timeline_(host, std::move(name), workgroups_.size()) {
  if (OrderObserver* const order = host.order())
    first_agent_ =
        order->begin_waves(host.gpu(), kernel.name, plan_.waves, plan_.workgroups * plan_.waves, host.behind());
}

KernelRun::~KernelRun() {
  for (const Wave& wave : waves_)
    if (wave.fiber.stack().bytes != 0) stacks_.give_back(wave.fiber.stack());
}

void KernelRun::start(Slot slot, std::uint32_t index) {
  workgroups_[slot] = {plan_.waves, 0};
  timeline_.begin(slot);
  void* const local = local_.clear(slot);
  for (std::uint32_t number = 0; number < plan_.waves; ++number) {
    Wave& wave = wave_of(slot, number);
    wave.given = {&WavePrograms::call, &given_.device(), given_.arguments(), local, index,
                  plan_.workgroups,    number,           plan_.waves};
    static_cast<t3_wave&>(wave) = wave.given;
    wave.kernel = &kernel_;
    wave.stacks = &stacks_;
    wave.slot = slot;
    wave.agent = first_agent_ + index * plan_.waves + number;
    wave.place = static_cast<std::size_t>(&wave - waves_.data());
    tiles_.clear(wave.place);
    wave.waiting = nullptr;
    wave.ends_later = false;
    timeline_.begin(wave);
    WavePrograms::start(wave);
    ready_.push_back(&wave);
  }
  run_ready();
}

void KernelRun::go_on(Wave& wave) {
  wave.waiting = nullptr;
  wave.ends_later = false;
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

/// Runs the program until it has to wait.
void KernelRun::step(Wave& wave) {
  for (;;) {
    const t3_call* const asked = WavePrograms::resume(host_, wave);
    if (const Refusal wrong = validate_step(wave)) return fail(wave, wrong.text);
    if (asked == nullptr) return ended(wave);
    if (const Refusal wrong = validate(wave, *asked)) return fail(wave, wrong.text);
    wave.waiting = asked;
    if (!serve(wave)) return;
    wave.waiting = nullptr;
  }
}

/// Refuses a step in which the program has broken a rule while it computed.
Refusal KernelRun::validate_step(const Wave& wave) const {
  if (WavePrograms::has_jumped())
    return refused(Status::aborted,
                   "its program has jumped to where another one has been called: its own return expected");
  if (!wave.fiber.intact())
    return refused(Status::aborted, "its program has used more than its stack of {} bytes",
                   static_cast<int>(T3_WAVE_STACK_BYTES));
  if (const char* where = local_.written_beside(wave.slot))
    return refused(Status::aborted, "it has written {} the {} bytes of its local memory", where, plan_.local_bytes);
  if (WavePrograms::has_strayed()) return refused(Status::aborted, stray_call);
  if (WavePrograms::has_left_floats()) return {Status::aborted, std::string(program_left_floats) + other_floats};
  if (!wave.is_whole() || std::memcmp(static_cast<const t3_wave*>(&wave), &wave.given, sizeof(t3_wave)) != 0)
    return refused(Status::aborted, "it has changed its struct t3_wave, which is the compute unit's");
  return given_.is_changed() ? refused(Status::aborted, changed_given) : Refusal{};
}

void KernelRun::ended(Wave& wave) {
  Workgroup& workgroup = workgroups_[wave.slot];
  if (wave.in_flight.count() != 0)
    return fail(wave, fmt::format("it ends with {} loads and {} stores under way", wave.in_flight.loads,
                                  wave.in_flight.stores));
  if (workgroup.met != 0)
    return fail(wave, fmt::format("it ends while {} waves of its workgroup wait for it in t3_workgroup_barrier",
                                  workgroup.met));
  timeline_.end(wave);
  if (--workgroup.running != 0) return;
  timeline_.end_workgroup(wave);
  host_.finished(wave.slot);
}

/// An answer may be the one that the wave waits for.
void KernelRun::answered(Transaction& transaction) {
  const KernelAccesses::Access& access = accesses_.of(transaction);
  Wave& wave = *access.wave;
  const t3_call_kind kind = access.kind;
  if (kind == T3_CALL_LOAD) transfers_.loaded(access, transaction);
  accesses_.release(transaction);
  switch (kind) {
    case T3_CALL_LOAD:
    case T3_CALL_STORE:
    case T3_CALL_UPDATE:
    case T3_CALL_WRITE:
      if (wave.waiting != nullptr && serve(wave)) go_on(wave);
      return;
    case T3_CALL_WAIT_VALUE:
      if (polls_.ends(wave, transaction)) go_on(wave);
      return;
    case T3_CALL_FETCH_ADD:
      bytes_.tell_old(wave, transaction);
      break;
    case T3_CALL_READ:
      bytes_.tell_read(wave, transaction);
      break;
    default:
      break;
  }
  go_on(wave);
}

/// Whether the call that the wave waits in is done.
bool KernelRun::serve(Wave& wave) {
  if (wave.ends_later) return false;
  const t3_call& asked = *wave.waiting;
  switch (asked.kind) {
    case T3_CALL_LOAD:
      transfers_.load(wave);
      return true;
    case T3_CALL_STORE:
    case T3_CALL_UPDATE:
      if (!is_here(wave, asked.tile)) return false;
      transfers_.store(wave, asked.kind == T3_CALL_STORE ? Operation::store : Operation::update);
      return true;
    case T3_CALL_WRITE:
      bytes_.write(wave);
      return true;
    case T3_CALL_FAIL:
      fail(wave, told_failure(wave));
      return false;
    case T3_CALL_WAIT_TILE:
      return is_here(wave, asked.tile);
    case T3_CALL_FENCE:
      return wave.in_flight.stores == 0;
    case T3_CALL_TRACE_SPAN:
      timeline_.show(wave, asked.span);
      return true;
    case T3_CALL_TRACE_MARK:
      timeline_.note(wave, asked.mark);
      return true;
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
      return occupy(wave);
    case T3_CALL_ADD:
      return is_here(wave, asked.tile) && is_here(wave, asked.addend) && occupy(wave);
    case T3_CALL_WORK:
      return begin_work(wave);
    case T3_CALL_SIGNAL:
      bytes_.signal(wave);
      return false;
    case T3_CALL_FETCH_ADD:
      bytes_.fetch_add(wave);
      return false;
    case T3_CALL_WAIT_COUNTER:
      bytes_.await(wave);
      return false;
    case T3_CALL_READ:
      bytes_.read(wave);
      return false;
    case T3_CALL_WAIT_VALUE:
      polls_.begin(wave);
      return false;
    default:
      return meet(wave);
  }
}

/// False: it is not done yet.
bool KernelRun::occupy(Wave& wave) {
  if (const Refusal wrong = work_.occupy(wave, *wave.waiting)) fail(wave, wrong.text);
  return false;
}

/// Work without operations and steps takes no time.
bool KernelRun::begin_work(Wave& wave) {
  const t3_vector_work& work = wave.waiting->work;
  if (!std::all_of(work.tiles, work.tiles + work.operands, [&](const t3_tile& t) { return is_here(wave, t); }))
    return false;
  if (work.operations != 0 || work.step_ns != 0) return occupy(wave);
  tiles_.begin(wave.place, *wave.waiting);
  finish(wave);
  return !failed_;
}

void KernelRun::finish(Wave& wave) {
  if (!host_.functional()) return;
  if (const Refusal wrong = work_.finish(wave, *wave.waiting)) fail(wave, wrong.text);
}

void KernelRun::elapsed(Slot slot, std::uint32_t number) {
  Wave& wave = wave_of(slot, number);
  finish(wave);
  if (!failed_) go_on(wave);
}

void KernelRun::poll_again(Slot slot, std::uint32_t number) {
  if (!failed_) polls_.again(wave_of(slot, number));
}

/// The last one to come lets the others go on.
bool KernelRun::meet(Wave& wave) {
  Workgroup& workgroup = workgroups_[wave.slot];
  if (workgroup.running != plan_.waves) {
    fail(wave, fmt::format("it waits in t3_workgroup_barrier for {} waves of its workgroup that have ended",
                           plan_.waves - workgroup.running));
    return false;
  }
  wave.ends_later = true;
  if (++workgroup.met != plan_.waves) return false;
  workgroup.met = 0;
  if (OrderObserver* const order = host_.order()) order->meet(wave.agent - wave.given.wave, plan_.waves);
  for (std::uint32_t number = 0; number < plan_.waves; ++number) {
    Wave& other = wave_of(wave.slot, number);
    other.ends_later = false;
    if (&other != &wave) ready_.push_back(&other);
  }
  return true;
}

/// Its own words for why it ends.
std::string KernelRun::told_failure(const Wave& wave) {
  const KernelTime time(host_, code_of(wave));
  return {wave.waiting->failure, ::strnlen(wave.waiting->failure, T3_FAILURE_TEXT - 1)};
}

void KernelRun::fail(const Wave& wave, const std::string& what) {
  failed_ = true;
  host_.fail(
      fmt::format("kernel {}: workgroup {}, wave {}: {}", kernel_.name, wave.given.workgroup, wave.given.wave, what));
}

/// Refuses what a program must not ask for.
Refusal KernelRun::validate(const Wave& wave, const t3_call& call) const {
  Refusal wrong = validate_call(call, plan_, host_.gpu());
  if (!wrong) wrong = tiles_.validate(wave.place, call);
  if (!wrong) wrong = accesses_.validate_count(wave, call);
  if (!wrong) wrong = accesses_.validate_order(wave, call);
  if (!wrong && call.kind == T3_CALL_SIGNAL) wrong = bytes_.validate_signal(call.counter);
  const bool overlaps = !wrong && call.kind == T3_CALL_LOAD && !is_here(wave, call.tile);
  return overlaps ? accesses_.validate_load(wave, call) : wrong;
}

}  // namespace t3vp::compute
