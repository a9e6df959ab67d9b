#include "io/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>

#include "io/output_file.h"
#include "io/printable.h"

namespace t3vp {
namespace {

const char* farewell = "";

void say_farewell(int /*signal_number*/, int /*sender*/) {
  write_all(STDERR_FILENO, {farewell, std::strlen(farewell)});
}

void (*act)(int signal_number, int sender) = &say_farewell;

void end_tidily(int signal_number, siginfo_t* info, void* /*context*/) {
  remove_partial_files();
  act(signal_number, info->si_code <= 0 ? info->si_pid : 0);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

/// Signals that are ignored by default, stop or continue the process, or cannot be handled.
constexpr int never_end[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU, SIGSTOP, SIGKILL};

}  // namespace

void claim_standard_streams() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    // Read-only, so that writing fails as it would with the closed descriptor.
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", O_RDONLY);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void print(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text))
    throw std::runtime_error("standard output: " + std::generic_category().message(errno));
}

void print_error(std::string_view line) { write_all(STDERR_FILENO, printable(std::string(line)) + "\n"); }

void end_tidily_on_signals(const char* last_line) {
  farewell = last_line;
  end_on_signals(&say_farewell);
}

void end_on_signals(void (*last_act)(int signal_number, int sender)) {
  act = last_act;
  for (int signal_number = 1; signal_number <= SIGRTMAX; ++signal_number) {
    if (std::count(std::begin(never_end), std::end(never_end), signal_number) != 0) continue;
    struct sigaction action {};
    if (sigaction(signal_number, nullptr, &action) != 0) continue;  // one of the two that glibc keeps to itself
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_sigaction = end_tidily;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace t3vp
