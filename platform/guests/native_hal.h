// Binds the firmware's HAL to a command processor that runs it natively.
#pragma once

#include "guests/arguments.h"
#include "guests/program_run.h"
#include "processor/command_processor.h"
#include "t3_hal.h"

namespace t3vp {

/// The object that a HAL's `platform` points to.
struct NativePlatform {
  processor::CommandProcessor& processor;
  Arguments& arguments;
  const char* writes_contents_of = nullptr;  ///< the buffer, while a function of the program's writes what is in it
};

/// The platform and what it names have to outlive the table.
t3_hal native_hal(NativePlatform& platform);

/// A program with what it is given of its run and what it may ask for, both for as long as it runs.
processor::CommandProcessor::Program native_program(t3_program* program, const GivenRun& run, Arguments& arguments);
/// One that is given no arguments.
processor::CommandProcessor::Program native_program(t3_program* program, ProgramRun run);

}  // namespace t3vp
