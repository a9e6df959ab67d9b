// The rule for names of programs and libraries in reports and logs.
#pragma once

#include <string_view>

namespace t3vp {

/// Whether kernels, programs, phases and buffers may have the name: 1 to 64 letters, digits, ".", "-" and "_".
bool is_plain_name(std::string_view name);

/// The same rule in words, for messages.
inline constexpr const char* a_plain_name = "a name of 1 to 64 letters, digits, \".\", \"-\" and \"_\"";

}  // namespace t3vp
