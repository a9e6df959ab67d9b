// Where text that programs, files and arguments bring becomes text that terminals, logs and reports take.
#pragma once

#include <string>

namespace t3vp {

/// As it can stand in a line: without control characters, of ASCII and of Latin-1, which are spaces then, and with
/// U+FFFD in place of each byte that is not part of UTF-8.
std::string printable(const std::string& text);

}  // namespace t3vp
