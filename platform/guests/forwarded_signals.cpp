#include "guests/forwarded_signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace t3vp {
namespace {

std::atomic<pid_t> child_process{0};
std::atomic<bool> takes_requests{false};
volatile std::sig_atomic_t is_asked = 0;

bool is_fault(int signal_number) {
  return signal_number == SIGSEGV || signal_number == SIGBUS || signal_number == SIGFPE || signal_number == SIGILL ||
         signal_number == SIGTRAP || signal_number == SIGSYS;
}

/// The kernel sends these to all processes of the terminal, to the child as well.
bool is_of_terminal(int signal_number) {
  return signal_number == SIGINT || signal_number == SIGQUIT || signal_number == SIGHUP;
}

/// Forwards a signal of another process or of a timer to the child, whose end ends this process.
extern "C" void forward(int signal_number, siginfo_t* info, void*) {
  const bool is_of_kernel = info->si_code > 0, is_own = !is_of_kernel && info->si_pid == getpid();
  if (signal_number == SIGUSR1 && takes_requests) {
    is_asked = 1;
    return;
  }
  if (is_own || (is_of_kernel && is_fault(signal_number))) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  } else if (is_of_kernel ? !is_of_terminal(signal_number) : info->si_pid != child_process) {
    kill(child_process, signal_number);
  }
}

/// Every signal that ends a process by default and can be handled.
bool is_forwarded(int signal_number) {
  switch (signal_number) {
    case SIGKILL:
    case SIGPIPE:  // of what this process writes itself
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
      return false;
    default:
      return signal_number < __SIGRTMIN || signal_number >= SIGRTMIN;  // libc keeps those between
  }
}

}  // namespace

void forward_signals(pid_t child) {
  child_process = child;
  struct sigaction action {};
  action.sa_sigaction = &forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction before {};
    if (!is_forwarded(number) || sigaction(number, nullptr, &before) != 0) continue;
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

void forward_signals_to(pid_t child) { child_process = child; }

void take_requests() { takes_requests = true; }

bool is_requested() { return is_asked != 0; }

void forget_request() { is_asked = 0; }

}  // namespace t3vp
