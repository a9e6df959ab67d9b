// What happens when a stack overflows. Firmware runs on stacks of CommandProcessor::stack_bytes, each of which ends in
// a page that SystemC has made inaccessible.
#pragma once

namespace t3vp {

/// From now on an overflow of the stack of any SystemC thread, or of the program's own, is one line on stderr and exit
/// code 1. Other invalid accesses stay what they are, but for firmware's (platform/guard/firmware_guard.h). None leaves
/// a partial file.
void report_stack_overflows();

}  // namespace t3vp
