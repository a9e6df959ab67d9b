// Answers what firmware on a RISC-V core asks of its host (models/processor/host_call.structure.json): the counterpart
// of native_hal.h. A call that cannot be understood is the program's mistake and fails the run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "config/elf_file.h"
#include "guests/arguments.h"
#include "guests/program_run.h"
#include "processor/firmware_core.h"
#include "t3/host_call.h"

namespace t3vp {

/// The data that a core's firmware receives.
struct CoreProgram {
  const ElfFile& image;
  std::string name;  ///< of one of the image's programs; empty: its only one
  const ProgramRun& run;
  std::size_t gpus = 1;         ///< whose programs exchange
  bool wants_contents = false;  ///< of buffers that programs publish
};

class HostServices {
 public:
  /// Loads the image, puts what the program is given and the arguments behind it and has the core run. The core and the
  /// arguments outlive this, which outlives the simulation. Throws InputError about an image that is not for the core.
  HostServices(processor::FirmwareCore& core, const CoreProgram& program, Arguments& arguments);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  /// The program reads these values of the run from now on. The workload is the same one.
  void change_run(const ProgramRun& to);

 private:
  using Answer = void (HostServices::*)(t3_host_call&);
  static Answer answer_to(std::uint32_t call);

  std::uint64_t put(const void* data, std::uint64_t bytes);
  std::uint64_t put(const std::string& text) { return put(text.c_str(), text.size() + 1); }
  std::uint64_t put_run(const ProgramRun& run);
  void rung(std::uint64_t address);
  std::string text_at(std::uint64_t address);
  std::string reason_of(const t3_host_call& fault) const;
  processor::PublishedBuffer::Contents contents_of(std::uint32_t kind, float constant, std::uint64_t values,
                                                   std::uint64_t elements, std::string& mistake);

  void start(t3_host_call& call);
  void end(t3_host_call& call);
  void fault(t3_host_call& call);
  void panic(t3_host_call& call);
  void log(t3_host_call& call);
  void own_memory(t3_host_call& call);
  void error(t3_host_call& call);
  void mistake(t3_host_call& call);
  void mark_begin(t3_host_call& call);
  void mark_end(t3_host_call& call);
  void publish(t3_host_call& call);
  void wants_contents(t3_host_call& call);
  void refusal(t3_host_call& call);
  void wait(t3_host_call& call);
  void wait_for_ever(t3_host_call& call);
  void given_up(t3_host_call& call);
  void wait_end(t3_host_call& call);
  void interrupt(t3_host_call& call);
  void interrupt_end(t3_host_call& call);
  void unlocked(t3_host_call& call);
  void exchange(t3_host_call& call);
  void has_argument(t3_host_call& call);
  void argument_u64(t3_host_call& call);
  void argument_double(t3_host_call& call);
  void argument_bool(t3_host_call& call);
  void argument_text(t3_host_call& call);

  processor::FirmwareCore& core_;
  CoreProgram program_;
  Arguments& arguments_;
  std::uint64_t memory_end_;  ///< behind what firmware may use
  std::uint64_t name_ = 0, run_ = 0;
  std::map<std::string, std::uint64_t> texts_;  ///< of arguments
};

}  // namespace t3vp
