// Which metrics of a report contain each other, so that their sum counts something twice.
#pragma once

#include <string>

namespace t3vp {

/// Whether the first metric contains the second one, as `time_ns.fused` contains `time_ns.gemm`. Both are dotted keys.
bool contains(const std::string& whole, const std::string& part);

}  // namespace t3vp
