// Lets a run go on to its end, in one process or as one rank of several: the same looks at the same simulated times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guests/guest_page.h"
#include "progress/barrier_watch.h"
#include "progress/pulse.h"
#include "progress/read_watch.h"
#include "run/core_debugger.h"
#include "run/operation_run.h"
#include "run/parallel_run.h"
#include "run/run_stops.h"
#include "run/simulation.h"

namespace t3vp {

/// The parts of a run besides its node.
struct RunParts {
  const RunConfiguration& configuration;  ///< which may change at a stop
  const RunOptions& options;
  const Arguments& arguments;
  const OperationRun* operations;  ///< null: there are none
  GuestPage& page;
  ReadWatch& reads;
  CoreDebugger* debugger;  ///< null: none
  RunStops* stops;         ///< null: none
  StoppedRun& stopped;     ///< this run, for the stops
  ParallelRun* parallel;   ///< null: one process
};

class RunLoop {
 public:
  RunLoop(Node& node, const RunParts& parts);

  /// For the line that ends a run at a limit.
  void tell();
  /// Lets simulated time pass until nothing is left to happen, a program or a kernel polls in vain, a program errs
  /// without end or misses an argument.
  void run_dry();
  /// At a deadlock with firmware that has not ended: reports the causes. Then it returns one wait after the other to
  /// its program, since the program's next actions may be what another one waits for.
  void diagnose(std::vector<std::string>& lines);

  /// Of the end so far.
  const Pulse& pulse() const { return pulse_; }
  /// Why a kernel that reads in a loop of its own has ended the run; empty when none has.
  std::string reads_in_vain() { return parts_.reads.in_vain(all_, pulse_); }
  /// Share of the work that is done, 0 to 1, where it is known.
  std::optional<double> done() const;
  /// Waits for GPUs whose programs had ended, which have been given up, in words. All ranks call it at the same time.
  std::vector<std::string> given_up() const;

 private:
  bool goes_on();
  Picoseconds next() const;
  void advance(Picoseconds end, Picoseconds limit);
  void meet();
  void look();
  void show_progress() const;

  Node& node_;
  RunParts parts_;
  AllGpus all_;
  Pulse pulse_;
  std::vector<GivenUpWait> given_up_;
};

bool all_finished(const Pulse& pulse);
/// A program that fails may have been about to ask for more.
bool all_succeeded(const Pulse& pulse);

/// Lets simulated time pass by so much, or until nothing happens here any more. Throws what a process has thrown, as
/// std::runtime_error.
void simulate_for(Picoseconds time, const GuestPage& page,
                  sc_core::sc_starvation_policy at_starvation = sc_core::SC_EXIT_ON_STARVATION);

}  // namespace t3vp
