// The exit codes of the program.
#pragma once

namespace t3vp {

enum ExitCode : int { success = 0, failed = 1, bad_input = 2 };

}  // namespace t3vp
