// What a check of a request finds.
#pragma once

#include <string>

#include "registers/status.h"

namespace t3vp {

/// Why a request is refused. The status is ok, and the text empty, when it is not.
struct [[nodiscard]] Refusal {
  Status status = Status::ok;
  std::string text{};  ///< what was found, and what is expected

  /// True when the request is refused.
  explicit operator bool() const { return status != Status::ok; }
};

}  // namespace t3vp
