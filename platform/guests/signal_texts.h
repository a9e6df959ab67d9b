// Texts that explain a signal of the guest that computes.
#pragma once

#include <signal.h>

#include <string_view>

namespace t3vp {

struct SignalText {
  int signal_number;
  std::string_view text;  ///< behind the guest's name
};

/// Faults of instructions, and abort().
inline constexpr SignalText fault_texts[] = {{SIGSEGV, " has accessed memory of the host that is not there"},
                                             {SIGBUS, " has accessed memory of the host that is not there"},
                                             {SIGFPE, " has divided by zero"},
                                             {SIGILL, " has run into an instruction that there is not"},
                                             {SIGABRT, " has called abort()"}};

/// The signals that a process may raise itself, and those of its timers.
inline constexpr SignalText raised_texts[] = {
    {SIGTERM, " has raised SIGTERM"},
    {SIGINT, " has raised SIGINT"},
    {SIGHUP, " has raised SIGHUP"},
    {SIGQUIT, " has raised SIGQUIT"},
    {SIGUSR1, " has raised SIGUSR1"},
    {SIGUSR2, " has raised SIGUSR2"},
    {SIGTRAP, " has raised SIGTRAP"},
    {SIGXCPU, " has raised SIGXCPU, or limited the processor's time, which is used up"},
    {SIGALRM, " has raised SIGALRM, or a timer that runs out has"},
    {SIGVTALRM, " has raised SIGVTALRM, or a timer that runs out has"},
    {SIGPROF, " has raised SIGPROF, or a timer that runs out has"},
};

}  // namespace t3vp
