#include "guests/guest_ends.h"

#include <fmt/format.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <systemc>
#include <thread>

#include "guests/signal_texts.h"
#include "io/console.h"
#include "io/exit_code.h"
#include "io/output_file.h"
#include "io/rank_ends.h"
#include "processor/command_processor.h"
#include "t3/device.h"

namespace t3vp {
namespace {

std::atomic<bool> are_told{false};  ///< ends of guests, while a GuestEnds lives
std::thread::id simulation_thread;

/// A line in pieces, made without the heap.
class LineText {
 public:
  LineText& operator<<(std::string_view text) {
    length_ += text.copy(text_.data() + length_, text_.size() - length_);
    return *this;
  }
  std::string_view view() const { return {text_.data(), length_}; }

 private:
  std::array<char, 12 << 10> text_;
  std::size_t length_ = 0;
};

/// Nothing but what a handler of signals may do. The first line counts: what comes behind it is its consequence.
[[noreturn]] void end_run(std::string_view line, int exit_code) {
  GuestPage& page = guest_page();
  remove_partial_files();
  if (page.is_watched) {
    if (page.last_line.view().empty()) {
      page.last_exit_code = exit_code;
      page.last_line.set(line);
    }
  } else if (reports_end()) {
    write_all(STDERR_FILENO, line);
    write_all(STDERR_FILENO, "\n");
  }
  _exit(exit_code);
}

/// The guest that computes has done this.
[[noreturn]] void end_run_of_guest(std::string_view what) {
  const GuestPage& page = guest_page();
  static LineText line;  // no stack may be left
  if (page.is_library) {
    line << page.library_begin.view() << what << page.library_end.view();
    end_run(line.view(), page.library_exit_code);
  }
  line << "t3vp: " << GuestName(page) << what;
  end_run(line.view(), failed);
}

/// Does the same for a guest that cannot be named.
[[noreturn]] void end_run_of(std::string_view who, std::string_view what) {
  static LineText line;
  line << "t3vp: " << who << what;
  end_run(line.view(), failed);
}

bool guest_computes() { return are_told && guest_page().computes(); }

constexpr std::string_view float_exception = " has run into a floating-point exception that it does not mask";

constexpr std::array<int, 3> told_here{SIGFPE, SIGILL, SIGABRT};  // of the others report_stack_overflows() takes care
static_assert(GuestEnds::signals == told_here.size() + std::size(raised_texts));

std::string_view text_of(const SignalText& fault, const siginfo_t& info) {
  const bool is_of_floats =
      fault.signal_number == SIGFPE && info.si_code > 0 && info.si_code != FPE_INTDIV && info.si_code != FPE_FLTDIV;
  return is_of_floats ? float_exception : fault.text;
}

bool is_own(const siginfo_t& info) { return info.si_code <= 0 && info.si_pid == getpid(); }

/// Returns when no guest has caused the signal.
void end_run_of_guest(int signal_number, const siginfo_t& info) {
  if (info.si_code <= 0 && !is_own(info)) return;
  if (!guest_computes()) return;
  for (const SignalText& fault : fault_texts)
    if (fault.signal_number == signal_number) end_run_of_guest(text_of(fault, info));
}

/// From now on the signal does what it does by default, whoever runs.
void leave_to_host(int signal_number) { signal(signal_number, SIG_DFL); }

/// The handlers of the signals before.
std::atomic<const std::array<struct sigaction, GuestEnds::signals>*> actions_before{nullptr};

/// A signal that is no guest's does what it would do without GuestEnds.
void pass_on(int signal_number, siginfo_t* info, void* context) {
  const auto* const before = actions_before.load();
  guest_page().is_foreign = true;
  for (std::size_t i = 0; before != nullptr && i < std::size(raised_texts); ++i) {
    const struct sigaction& action = (*before)[told_here.size() + i];
    if (raised_texts[i].signal_number != signal_number || action.sa_handler == SIG_DFL) continue;
    if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(signal_number, info, context);
    return action.sa_handler(signal_number);
  }
  leave_to_host(signal_number);
  raise(signal_number);
}

extern "C" void report_signal(int signal_number, siginfo_t* info, void*) {
  end_run_of_guest(signal_number, *info);
  remove_partial_files();
  leave_to_host(signal_number);
  raise(signal_number);
}

/// Others may send these to the process as well, and a terminal does.
extern "C" void report_raised(int signal_number, siginfo_t* info, void* context) {
  const bool is_of_timer =
      info->si_code == SI_TIMER || (info->si_code > 0 && (signal_number == SIGALRM || signal_number == SIGVTALRM ||
                                                          signal_number == SIGPROF || signal_number == SIGTRAP));
  const bool is_of_limit = signal_number == SIGXCPU && info->si_code > 0;  // which anybody may have set
  for (const SignalText& raised : raised_texts) {
    if (raised.signal_number != signal_number || !(is_of_timer || is_own(*info) || is_of_limit)) continue;
    if (guest_computes() && !is_of_limit) end_run_of_guest(raised.text);
    end_run_of("a program, a library, or who has started this process,", raised.text);
  }
  pass_on(signal_number, info, context);
}

extern "C" void report_exit() {
  if (!are_told || guest_page().returned) return;
  if (std::this_thread::get_id() != simulation_thread)
    end_run_of("a thread that a program or library has begun", " has called exit()");
  if (guest_computes()) end_run_of_guest(" has called exit()");
}

/// A copy would repeat the run's actions on the same files.
extern "C" void report_fork() {
  if (guest_computes()) end_run_of_guest(" has called fork()");
}

[[noreturn]] void report_terminate() {
  if (guest_computes()) end_run_of_guest(" has ended the thread that it runs on or thrown what nobody catches");
  std::abort();
}

/// The handler's own stack: there is none left where the signal comes from.
alignas(16) unsigned char handler_stack[64 << 10];

std::uintptr_t stack_pointer(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine->gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine->sp);
#else
  return 0;
#endif
}

/// Pushes access memory right below the stack pointer, functions whatever lies between it and the frame before.
bool is_near(std::uintptr_t address, std::uintptr_t pointer) {
  constexpr std::uintptr_t below = 4 << 10, largest_frame = 256 << 10;
  return pointer != 0 && address + below >= pointer && address < pointer + largest_frame;
}

bool kernel_computes() { return guest_computes() && !guest_page().is_library && guest_page().is_kernel; }

/// Returns whether the address is above the stack of the running program, such as at the end of another one's. That is
/// no overflow of it.
bool is_above_stack(std::uintptr_t address, const sc_core::sc_process_handle& process) {
  if (!process.valid() || kernel_computes()) return false;
  const auto* const processor = dynamic_cast<const processor::CommandProcessor*>(process.get_parent_object());
  return processor != nullptr && processor->stack_end() != 0 && address >= processor->stack_end();
}

[[noreturn]] void end_for_stack(const sc_core::sc_process_handle& process) {
  if (guest_computes() && guest_page().is_library) end_run_of_guest(" has overflowed its stack");
  static_assert(processor::CommandProcessor::stack_bytes == 256 << 10);
  static_assert(T3_WAVE_STACK_BYTES == 16 << 10);
  static LineText line;
  line << "t3vp: stack overflow in " << (process.valid() ? process.name() : "the main program");
  if (kernel_computes())
    line << ": " << GuestName(guest_page()) << " has 16 KiB of stack";
  else if (process.valid())
    line << ": firmware has 256 KiB of stack";
  end_run(line.view(), failed);
}

extern "C" void report_invalid_access(int signal_number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
  if (is_near(address, stack_pointer(context)) && !is_above_stack(address, process)) end_for_stack(process);
  remove_partial_files();
  end_run_of_guest(signal_number, *info);
  leave_to_host(signal_number);                  // the access is repeated and ends the program as usual
  if (info->si_code <= 0) raise(signal_number);  // a process has sent it: no access is repeated
}

}  // namespace

GuestEnds::GuestEnds() {
  simulation_thread = std::this_thread::get_id();
  guest_page().process = getpid();
  are_told = true;
  struct sigaction action {};
  action.sa_sigaction = &report_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < told_here.size(); ++i) sigaction(told_here[i], &action, &before_[i]);
  action.sa_sigaction = &report_raised;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  for (std::size_t i = told_here.size(); i < signals; ++i) {
    const int number = raised_texts[i - told_here.size()].signal_number;
    sigaction(number, nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  actions_before = &before_;
  terminate_before_ = std::set_terminate(&report_terminate);
  static const bool registered = std::atexit(&report_exit) == 0 && std::at_quick_exit(&report_exit) == 0 &&
                                 pthread_atfork(&report_fork, nullptr, nullptr) == 0;
  static_cast<void>(registered);
}

GuestEnds::~GuestEnds() {
  are_told = false;
  std::set_terminate(terminate_before_);
  actions_before = nullptr;
  for (std::size_t i = 0; i < signals; ++i)
    sigaction(i < told_here.size() ? told_here[i] : raised_texts[i - told_here.size()].signal_number, &before_[i],
              nullptr);
}

LibraryCode::LibraryCode(const SoftwareLibrary& library, const Limits& limits, What what) : limits_(limits) {
  const char* const done = what == opening ? "opened" : "closed";
  guest_page().enter_library(fmt::format("{}: found {}, which", library.place.where, library.place.given),
                             fmt::format(" while it was {0}, expected a native library that can be {0}", done),
                             what == opening ? bad_input : failed);
}

/// The floating-point environment is the platform's again: a constructor may flush denormal numbers to 0, as those of
/// libraries that are built with -ffast-math do.
LibraryCode::~LibraryCode() {
  require_own_process();
  guest_page().leave_library();
  restore_floats();
}

void require_own_process() {
  const GuestPage& page = guest_page();
  if (page.process == 0 || page.process == getpid()) return;
  if (page.is_library) end_run_of_guest(" has called vfork()");
  end_run_of("a program or kernel", " has called vfork()");
}

void require_own_call(std::uint16_t gpu) {
  const GuestPage& page = guest_page();
  const bool is_own_thread = std::this_thread::get_id() == simulation_thread;
  if (is_own_thread && page.computes() && page.gpu == gpu && !page.is_kernel) return;
  const std::string caller = is_own_thread ? std::string(std::string_view(GuestName(page)))
                                           : "a thread of its own: programs run on the simulation's";
  end_run_for_call(gpu, caller);
}

void end_run_for_call(std::uint16_t gpu, const std::string& caller) {
  end_with_line({fmt::format("t3vp: the HAL of GPU {} was called by {}", gpu, caller), failed});
}

void end_run_for_its_thread() {
  if (guest_computes()) end_run_of_guest(" has ended the thread that it runs on");
}

void end_with_line(const LastLine& line) { end_run(line.text, line.exit_code); }

void report_stack_overflows() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &report_invalid_access;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace t3vp
