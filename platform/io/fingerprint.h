// Short names of long contents.
#pragma once

#include <string>
#include <string_view>

namespace t3vp {

/// FNV-1a, 16 hexadecimal digits.
std::string fingerprint(std::string_view bytes);

/// 16 hexadecimal digits of the sources that simulate, without comments, and of their compiler. Programs with the same
/// digits give the same times and metrics of a run.
const char* simulation_fingerprint();

}  // namespace t3vp
