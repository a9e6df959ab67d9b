// Converts text of programs, files and arguments to text that terminals, logs and reports take.
#pragma once

#include <string>

namespace t3vp {

/// Returns the text as it can stand in a line. Control characters of ASCII and of Latin-1 become spaces. Each byte that
/// is not part of UTF-8 becomes U+FFFD.
std::string printable(const std::string& text);

}  // namespace t3vp
