// Binds the firmware's HAL to a command processor that runs it natively.
#pragma once

#include "processor/command_processor.h"
#include "t3/job.h"
#include "t3_hal.h"

namespace t3vp {

/// The table's `platform` is the processor, which has to outlive it.
t3_hal native_hal(CommandProcessor& processor);

/// One of the programs in firmware/programs with its job.
CommandProcessor::Program native_program(t3_program* program, const t3_job& job);

}  // namespace t3vp
