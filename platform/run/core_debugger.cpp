#include "run/core_debugger.h"

#include <fmt/format.h>

#include "debugger/hart_registers.h"
#include "hart/trap_text.h"
#include "io/console.h"
#include "run/trap_snapshot.h"

namespace t3vp {

using debug::Action;
using debug::Stop;
using Reason = debug::Stop::Reason;
using State = debug::GdbServer::State;

/// A core, as its debugger follows it.
class CoreDebugger::Thread : public riscv::Follower {
 public:
  Thread(CoreDebugger& debugger, std::size_t number, DebuggedCore debugged)
      : debugger_(debugger), number_(number), core_(*debugged.core), name_(std::move(debugged.name)) {}

  riscv::Core& core() { return core_; }
  const std::string& name() const { return name_; }
  const Action& action() const { return debugger_.server_->action(number_); }

  void before(riscv::Core& core) override {
    if (++looked_ % steps_between_looks == 0) debugger_.receive();
    debugger_.begin();
    while (debugger_.is_running() && !may_go_on()) {
    }
    watched_.reset();
    snapshot_.before(core.hart());
    if (debugger_.is_running() && debugger_.server_->stop_points().watches()) watched_ = watch_of_next(core);
  }

  void after(riscv::Core& core) override {
    snapshot_.after(core.hart());
    if (!debugger_.is_running()) return;
    if (core.has_unhandled_trap() && !snapshot_.is_empty())
      show_fault();
    else if (watched_)
      debugger_.stop({Reason::watch, number_, *watched_});
    else if (action().kind == Action::Kind::step && !action().stays_in_range(core.hart().pc))
      debugger_.stop({Reason::stepped, number_});
  }

 private:
  /// Steps between two checks for a client that wants to stop the program; each check is a system call.
  static constexpr std::uint64_t steps_between_looks = 4096;

  /// False: it has waited or stopped, and all has to be looked at again.
  bool may_go_on() {
    if (action().kind == Action::Kind::hold) {
      sc_core::wait(debugger_.resumed_);
      return false;
    }
    const debug::StopPoint* const point = debugger_.server_->stop_points().breakpoint(core_.hart().pc);
    if (point == nullptr && !debugger_.server_->wants_a_stop()) return true;
    const bool is_software = point != nullptr && point->kind == debug::StopPointKind::software_breakpoint;
    const Reason reason = point == nullptr ? Reason::interrupted
                          : is_software    ? Reason::software_breakpoint
                                           : Reason::hardware_breakpoint;
    debugger_.stop({reason, number_});
    return false;
  }

  /// Lets the client look at the registers as they were at the instruction that nobody handles the trap of.
  void show_fault() {
    riscv::Hart& hart = core_.hart();
    Stop stop{Reason::fault, number_};
    stop.signal = snapshot_.signal();
    snapshot_.exchange(hart);
    debugger_.server_->print(fmt::format("{}: {} at pc {:#x}, mtval {:#x}: the program does not handle this trap\n",
                                         name_, riscv::name_of_trap(hart.control.mcause), hart.pc, hart.control.mtval));
    debugger_.stop(stop);
    snapshot_.exchange(hart);
  }

  std::optional<debug::StopPoint> watch_of_next(riscv::Core& core) const {
    const riscv::Hart& hart = core.hart();
    riscv::Instruction fetched;
    const riscv::Instruction* instruction = hart.decoded(hart.pc);
    if (instruction == nullptr) {
      std::uint32_t word = 0;
      if (core.read_debug(hart.pc, reinterpret_cast<unsigned char*>(&word), sizeof word) < sizeof word / 2) return {};
      fetched = riscv::decode(riscv::is_compressed(word) ? word & 0xFFFF : word);
      instruction = &fetched;
    }
    const std::optional<debug::MemoryAccess> access = debug::access_of(hart, *instruction);
    const debug::StopPoint* const point = access ? debugger_.server_->stop_points().watch(*access) : nullptr;
    return point != nullptr ? std::optional(*point) : std::nullopt;
  }

  CoreDebugger& debugger_;
  std::size_t number_;
  riscv::Core& core_;
  std::string name_;
  std::uint64_t looked_ = 0;
  TrapSnapshot snapshot_;
  std::optional<debug::StopPoint> watched_;  ///< the stop point that the instruction in flight meets
};

CoreDebugger::CoreDebugger(debug::TcpPort& port, std::vector<DebuggedCore> cores, Monitor monitor, Times times)
    : port_(port),
      threads_(threads_of(std::move(cores))),
      monitor_(std::move(monitor)),
      times_(std::move(times)),
      server_(std::in_place, static_cast<debug::Debuggee&>(*this)) {
  follow(true);
}

CoreDebugger::~CoreDebugger() { follow(false); }

std::vector<std::unique_ptr<CoreDebugger::Thread>> CoreDebugger::threads_of(std::vector<DebuggedCore> cores) {
  std::vector<std::unique_ptr<Thread>> threads;
  for (DebuggedCore& core : cores) threads.push_back(std::make_unique<Thread>(*this, threads.size(), std::move(core)));
  return threads;
}

/// Waits for the client, and for its wish to go on.
void CoreDebugger::begin() {
  if (has_begun_ || is_late_) return;
  if (times_.on_stand) times_.on_stand(true);
  connection_ = wait_for_client();
  has_begun_ = connection_ != nullptr;
  serve();
}

void CoreDebugger::tell_of_stranger(const std::string& what) const {
  print_error(
      fmt::format("t3vp: a connection to 127.0.0.1:{} {}: ignored, a debugger is waited for", port_.number(), what));
}

/// Waits for a client. Returns null when none has come in time. Prints that it waits, less and less often.
std::unique_ptr<debug::Connection> CoreDebugger::wait_for_client() {
  using debug::HostClock;
  const std::uint16_t port = port_.number();
  end_tidily_on_signals("t3vp: ended while it waited for a debugger\n");
  std::unique_ptr<debug::Connection> client;
  std::chrono::seconds pause(5), waited(0);
  while (client == nullptr && !is_late_) {
    const HostClock::time_point next = HostClock::now() + pause;
    client = port_.accept(std::min(next, times_.until), [this](const std::string& what) { tell_of_stranger(what); });
    is_late_ = client == nullptr && HostClock::now() >= times_.until;
    if (client != nullptr || is_late_) break;
    waited += pause;
    pause *= 2;
    print_error(
        fmt::format("t3vp: no debugger has come to 127.0.0.1:{} for {} s: it is waited for, Ctrl-C ends the wait", port,
                    waited.count()));
  }
  end_tidily_on_signals();
  return client;
}

void CoreDebugger::receive() {
  if (connection_ == nullptr || !is_running()) return;
  hear(debug::at_once);
  if (!is_running()) part();
}

/// Reads the client's packets until then, or until it has left.
void CoreDebugger::hear(debug::HostClock::time_point until) {
  server_->receive(connection_->receive(until));
  if (connection_->is_open() || is_killed() || server_->state() == State::detached) return;
  print_error("t3vp: the connection to the debugger has ended without detach or kill");
  server_->leave();
}

/// A client that comes back finds the cores where they are.
void CoreDebugger::look_for_return() {
  connection_ = port_.accept(debug::at_once, [this](const std::string& what) { tell_of_stranger(what); });
  if (connection_ == nullptr) return;
  server_.emplace(static_cast<debug::Debuggee&>(*this));
  follow(true);
  serve();
}

void CoreDebugger::look_for_interrupt() {
  if (has_begun_ && connection_ == nullptr && !is_late_) look_for_return();
  receive();
  if (server_->wants_a_stop()) stop({Reason::interrupted, server_->chosen_thread()});
}

void CoreDebugger::show_end(const std::string& why) {
  if (connection_ == nullptr || !is_running()) return;
  server_->print(why + "\n");
  if (debug::HostClock::now() >= times_.until) return;
  stop({Reason::cannot_go_on, server_->chosen_thread()});
}

void CoreDebugger::exit(int code) {
  if (connection_ == nullptr || !is_running()) return;
  server_->exit(code);
  connection_->send(server_->take_output());
}

void CoreDebugger::stop(const Stop& stop) {
  server_->stop(stop);
  serve();
}

/// Serves the client until it resumes the program, leaves, or its time is over.
void CoreDebugger::serve() {
  if (times_.on_stand) times_.on_stand(true);
  while (!is_late_) {
    connection_->send(server_->take_output());
    if (server_->state() != State::stopped) {
      const std::optional<std::size_t> asleep = asleep_alone();
      if (!asleep) break;
      server_->stop({Reason::stepped, *asleep});
      continue;
    }
    hear(times_.until);
    is_late_ = server_->state() == State::stopped && debug::HostClock::now() >= times_.until;
  }
  if (is_late_) server_->leave();
  for (const auto& thread : threads_)
    thread->core().hart().hold_interrupts(is_running() && thread->action().kind == Action::Kind::step);
  if (!is_running()) part();
  resumed_.notify(sc_core::SC_ZERO_TIME);
  if (times_.on_stand) times_.on_stand(false);
}

/// A thread that is to make a step while all others are held, and that sleeps: what could wake it may need them.
std::optional<std::size_t> CoreDebugger::asleep_alone() const {
  if (!is_running() || threads_.size() < 2) return std::nullopt;
  std::optional<std::size_t> alone;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (server_->action(i).kind == Action::Kind::hold) continue;
    if (alone || server_->action(i).kind != Action::Kind::step || !threads_[i]->core().hart().sleeps())
      return std::nullopt;
    alone = i;
  }
  return alone;
}

/// The client has left, wants an end, or has no time any more.
void CoreDebugger::part() {
  follow(false);
  if (is_killed() || is_late_) return;
  connection_.reset();
  std::string how = fmt::format(", which may come back to 127.0.0.1:{}", port_.number());
  try {
    port_.open_again();
  } catch (const std::runtime_error& error) {
    how = fmt::format(", which cannot come back: {}", error.what());
  }
  print_error("t3vp: the run goes on without a debugger" + how);
}

void CoreDebugger::follow(bool follows) {
  for (const auto& thread : threads_) {
    thread->core().set_follower(follows ? thread.get() : nullptr);
    thread->core().hart().hold_interrupts(false);
    if (is_killed() || is_late_) thread->core().halt();
  }
}

std::size_t CoreDebugger::threads() const { return threads_.size(); }

std::string CoreDebugger::thread_name(std::size_t thread) const { return threads_[thread]->name(); }

std::string CoreDebugger::description() const { return debug::hart_description(); }

unsigned CoreDebugger::general_registers() const { return debug::hart_general_registers; }

unsigned CoreDebugger::program_counter() const { return debug::hart_program_counter; }

std::optional<std::uint64_t> CoreDebugger::read_register(std::size_t thread, unsigned number) {
  return debug::read_hart_register(threads_[thread]->core().hart(), number);
}

bool CoreDebugger::write_register(std::size_t thread, unsigned number, std::uint64_t value) {
  riscv::Core& core = threads_[thread]->core();
  const bool moves = number == program_counter() && core.hart().pc != value;
  const bool is_done = debug::write_hart_register(core.hart(), number, value);
  if (moves) core.wake();
  return is_done;
}

std::string CoreDebugger::read_memory(std::size_t thread, std::uint64_t address, std::size_t bytes) {
  std::string data(bytes, '\0');
  auto* const place = reinterpret_cast<unsigned char*>(data.data());
  std::size_t read = threads_[thread]->core().read_debug(address, place, bytes);
  for (std::size_t i = 0; i < threads_.size() && read == 0; ++i)
    read = threads_[i]->core().read_debug(address, place, bytes);
  data.resize(read);
  return data;
}

bool CoreDebugger::write_memory(std::size_t thread, std::uint64_t address, std::string_view bytes) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t written = threads_[thread]->core().write_debug(address, data, bytes.size());
  for (std::size_t i = 0; i < threads_.size() && written == 0; ++i)
    written = threads_[i]->core().write_debug(address, data, bytes.size());
  return written == bytes.size();
}

std::string CoreDebugger::monitor(std::size_t thread, const std::string& words) { return monitor_(thread, words); }

}  // namespace t3vp
