// A refusal by a block, with its reason.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "registers/status.h"

namespace t3vp {

/// True when something is refused.
struct Refusal {
  Status status = Status::ok;
  std::string text = {};  ///< what was found and what was expected; empty when nothing is refused

  explicit operator bool() const { return status != Status::ok; }
};

template <typename... Arguments>
Refusal refused(Status status, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {status, fmt::format(text, std::forward<Arguments>(arguments)...)};
}

}  // namespace t3vp
