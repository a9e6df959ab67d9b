// Short names of long contents.
#pragma once

#include <string>
#include <string_view>

namespace t3vp {

/// FNV-1a, 16 hexadecimal digits.
std::string fingerprint(std::string_view bytes);

/// 16 hexadecimal digits of the running program's file. A report identifies by it the build that wrote it.
const std::string& program_fingerprint();

}  // namespace t3vp
