#include "compute/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compute/device_mistakes.h"
#include "compute/kept_exceptions.h"
#include "protocol/address_map.h"
#include "protocol/traffic_classes.h"

namespace t3vp::compute {
namespace {
constexpr const char* program_left_floats = "its program calls the device or ends, and leaves ";

}  // namespace

t3_device device_of(const ComputeParameters& p) {
  t3_device device{};
  device.compute_units = p.compute_units;
  device.tile_rows = p.tile_rows;
  device.tile_columns = p.tile_columns;
  device.workgroups_per_cu = p.workgroups_per_cu;
  device.slab_depth = p.slab_depth;
  device.prefetch_slabs = p.prefetch_slabs;
  device.register_bytes = p.register_bytes;
  device.local_bytes = p.local_bytes;
  device.clock_GHz = p.clock_GHz;
  device.vector_elements_per_cycle = p.vector_elements_per_cycle;
  device.kernels = p.kernels;
  return device;
}

KernelRun::KernelRun(KernelHost& host, FiberStacks& stacks, LentTiles& lent_tiles, const t3_kernel& kernel,
                     KernelArguments arguments, const t3_plan& plan, std::string name, RingAgreement agreement)
    : host_(host),
      stacks_(stacks),
      lent_tiles_(lent_tiles),
      kernel_(kernel),
      device_(device_of(host.parameters())),
      arguments_(std::move(arguments)),
      known_device_(device_),
      known_arguments_(arguments_),
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
    wave.in_flight = false;
    wave.shown.clear();
    wave.shown_since = now();
    wave.shown_tile = T3_NO_TILE;
    wave.fiber.start(wave.fiber.stack().bytes != 0 ? wave.fiber.stack() : stacks_.take(), &KernelRun::enter, &wave);
    ready_.push_back(&wave);
  }
  run_ready();
}

void KernelRun::enter(void* argument) {
  auto* wave = static_cast<Wave*>(argument);
  wave->run->kernel_.run(wave);
  left_floats = restore_floats();
  if (has_jumped()) come_back();
}

/// A program that calls longjmp() goes on, on another stack, as another one that has been called before.
bool KernelRun::has_jumped() {
  if (stepped == nullptr && computing == nullptr) std::abort();  // firmware's, which its guard tells
  const void* const here = __builtin_frame_address(0);
  return stepped != nullptr ? !stepped->fiber.has(here) : computing->run->stacks_.have(here);
}

/// To who has called it, whose stack is as it was.
void KernelRun::come_back() {
  jumped = true;
  if (stepped == nullptr) __builtin_longjmp(way_back, 1);
  const KeptExceptions exceptions;
  for (;;) stepped->fiber.yield(nullptr);
}

/// Only the program that runs can be suspended. Others may have kept the wave of one that has ended.
void KernelRun::call(t3_wave* caller, const t3_call* call) {
  if (has_jumped()) come_back();
  if (stepped != caller || call == nullptr) {
    strayed = true;
    return;
  }
  auto* const wave = static_cast<Wave*>(caller);
  wave->asked = *call;
  left_floats = restore_floats();
  const KeptExceptions exceptions;
  wave->fiber.yield(&wave->asked);
}

void KernelRun::go_on(Wave& wave) {
  wave.waiting = nullptr;
  wave.in_flight = false;
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
    strayed = jumped = false;
    const KernelCode code = code_of(wave);
    host_.code_runs(&code);
    const auto* asked = static_cast<const t3_call*>(wave.fiber.resume());
    host_.code_runs(nullptr);
    stepped = nullptr;
    if (const std::string wrong = validate_step(wave); !wrong.empty()) return fail(wave, wrong);
    if (asked == nullptr) return ended(wave);
    if (const std::string wrong = mistake(wave, *asked); !wrong.empty()) return fail(wave, wrong);
    wave.waiting = asked;
    if (!serve(wave)) return;
    wave.waiting = nullptr;
  }
}

/// What a program has done while it computed.
std::string KernelRun::validate_step(const Wave& wave) const {
  if (jumped) return "its program has jumped to where another one has been called: its own return expected";
  if (!wave.fiber.intact())
    return fmt::format("its program has used more than its stack of {} bytes", static_cast<int>(T3_WAVE_STACK_BYTES));
  if (const char* where = local_.written_beside(wave.slot))
    return fmt::format("it has written {} the {} bytes of its local memory", where, plan_.local_bytes);
  if (strayed) return stray_call;
  if (left_floats) return std::string(program_left_floats) + other_floats;
  if (std::memcmp(static_cast<const t3_wave*>(&wave), &wave.given, sizeof(t3_wave)) != 0)
    return "it has changed its struct t3_wave, which is the compute unit's";
  return has_changed_given() ? changed_given : std::string();
}

bool KernelRun::has_changed_given() const {
  return std::memcmp(arguments_.data(), known_arguments_.data(), kernel_.arguments.size) != 0 ||
         std::memcmp(&device_, &known_device_, sizeof device_) != 0;
}

void KernelRun::ended(Wave& wave) {
  Workgroup& workgroup = workgroups_[wave.slot];
  if (wave.loads + wave.stores != 0)
    return fail(wave, fmt::format("it ends with {} loads and {} stores under way", wave.loads, wave.stores));
  if (workgroup.met != 0)
    return fail(wave, fmt::format("it ends while {} waves of its workgroup wait for it in t3_workgroup_barrier",
                                  workgroup.met));
  if (!wave.shown.empty()) end_part(wave);
  if (--workgroup.running != 0) return;
  Trace::Track track = 0;
  if (Trace* trace = workgroup.shows_parts ? nullptr : host_.trace(wave.slot, wave.given.workgroup, track))
    trace->span(track, name_.c_str(), workgroup.begin, now());
  host_.finished(wave.slot);
}

/// The part of the wave's program that ends now, which is the kernel itself at first.
void KernelRun::end_part(const Wave& wave) {
  Trace::Track track = 0;
  Trace* const trace = host_.trace(wave.slot, wave.given.workgroup, track);
  if (trace == nullptr) return;
  const char* const name = wave.shown.empty() ? name_.c_str() : wave.shown.c_str();
  if (wave.shown_tile == T3_NO_TILE)
    trace->span(track, name, wave.shown_since, now());
  else
    trace->span(track, name, wave.shown_since, now(), flow_of(host_.gpu(), wave.shown_tile, 0));
}

void KernelRun::show(Wave& wave, const t3_span& part) {
  const KernelTime time(host_, code_of(wave));
  end_part(wave);
  workgroups_[wave.slot].shows_parts = true;
  wave.shown = part.text;
  wave.shown_since = now();
  wave.shown_tile = part.workgroup;
}

void KernelRun::note(const Wave& wave, const t3_mark& instant) {
  Trace::Track track = 0;
  Trace* const trace = host_.trace(wave.slot, wave.given.workgroup, track);
  if (trace == nullptr) return;
  const KernelTime time(host_, code_of(wave));
  trace->instant(track, instant.text, now(), instant.to == 0 ? 0 : flow_to(instant.to));
}

/// Whether the call that the wave waits in is done.
bool KernelRun::serve(Wave& wave) {
  if (wave.in_flight) return false;
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
    case T3_CALL_WRITE:
      write(wave);
      return true;
    case T3_CALL_FAIL:
      fail(wave, told_failure(wave));
      return false;
    case T3_CALL_WAIT_TILE:
      return is_here(wave, asked.tile);
    case T3_CALL_FENCE:
      return wave.stores == 0;
    case T3_CALL_TRACE_SPAN:
      show(wave, asked.span);
      return true;
    case T3_CALL_TRACE_MARK:
      note(wave, asked.mark);
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
    case T3_CALL_WAIT_COUNTER:
      await(wave);
      return false;
    case T3_CALL_READ:
      read(wave);
      return false;
    case T3_CALL_WAIT_VALUE:
      begin_poll(wave);
      return false;
    default:
      return meet(wave);
  }
}

/// The last one to come lets the others go on.
bool KernelRun::meet(Wave& wave) {
  Workgroup& workgroup = workgroups_[wave.slot];
  if (workgroup.running != plan_.waves) {
    fail(wave, fmt::format("it waits in t3_workgroup_barrier for {} waves of its workgroup that have ended",
                           plan_.waves - workgroup.running));
    return false;
  }
  wave.in_flight = true;
  if (++workgroup.met != plan_.waves) return false;
  workgroup.met = 0;
  for (std::uint32_t number = 0; number < plan_.waves; ++number) {
    Wave& other = waves_[std::size_t{wave.slot} * plan_.waves + number];
    other.in_flight = false;
    if (&other != &wave) ready_.push_back(&other);
  }
  return true;
}

void KernelRun::fail(const Wave& wave, const std::string& what) {
  failed_ = true;
  host_.fail(
      fmt::format("kernel {}: workgroup {}, wave {}: {}", kernel_.name, wave.given.workgroup, wave.given.wave, what));
}

/// An agreement is with one neighbour, known by its position in the ring, which need not be the number of its GPU.
std::string KernelRun::validate_signal(const t3_counter& counter) const {
  if (agreement_.sent == nullptr) return {};
  const std::uint64_t to = address_map::gpu_of(counter.address);
  const std::uint32_t receiver = agreement_.sent->receiver;
  const bool is_neighbour = to == host_.gpu() ? receiver == agreement_.expected->receiver : to != address_map::all_gpus;
  if (is_neighbour) return {};
  return fmt::format("a signal to {}: its agreement's receiver is GPU {} of the ring, which is expected",
                     to == address_map::all_gpus ? "all GPUs" : fmt::format("its own GPU {}", to), receiver);
}

/// What a program must not ask for; empty when there is nothing wrong.
std::string KernelRun::mistake(const Wave& wave, const t3_call& call) const {
  std::string wrong = validate_call(call, plan_, host_.gpu());
  if (wrong.empty()) wrong = tiles_.mistake(index_of(wave), call);
  const bool is_posted = call.kind <= T3_CALL_UPDATE || call.kind == T3_CALL_WRITE;
  if (wrong.empty() && is_posted && wave.loads + wave.stores >= T3_ACCESSES_MAX)
    return fmt::format(
        "{} loads and stores are under way: less than {} expected, t3_wait_tile or t3_fence waits for them",
        wave.loads + wave.stores, static_cast<int>(T3_ACCESSES_MAX));
  if (wrong.empty()) wrong = validate_order(wave, call);
  if (wrong.empty() && call.kind == T3_CALL_SIGNAL) wrong = validate_signal(call.counter);
  return wrong.empty() && call.kind == T3_CALL_LOAD ? validate_load(wave, call) : wrong;
}

}  // namespace t3vp::compute
