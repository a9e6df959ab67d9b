// Standard output and standard error. Output that cannot be written is a failure. A failure of standard error is not
// reported.
#pragma once

#include <string_view>

namespace t3vp {

/// The program begins with it: what the caller has closed of the three standard streams is opened on nothing, so that
/// no file of ours takes its number; a reader that has gone and a limit of file sizes become error codes.
void claim_standard_streams();

/// Throws std::runtime_error with the reason when standard output does not take it.
void print(std::string_view text);

/// A line on standard error, if there is one, printable. Safe in any thread.
void print_error(std::string_view line);

/// Lets every signal whose default is to end the process, unless it is ignored or has a handler, end it as it does, but
/// with no partial file left behind, and with a last line on standard error. `last_line` has to stay valid; empty:
/// none.
void end_tidily_on_signals(const char* last_line = "");

/// The same with an act in place of the line, which may end the process. `sender`: the process that has sent the
/// signal; 0: none has.
void end_on_signals(void (*last_act)(int signal_number, int sender));

}  // namespace t3vp
