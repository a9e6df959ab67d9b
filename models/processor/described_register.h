// A register of a block's description by its name, at compile time.
#pragma once

#include <stdexcept>
#include <string_view>

#include "registers/register_description.h"

namespace t3vp::processor {

constexpr RegisterDescription described(std::string_view name, const BlockDescription& block) {
  for (const RegisterDescription& r : block.registers)
    if (std::string_view(r.name) == name) return r;
  throw std::logic_error("no such register");  // which does not compile
}

}  // namespace t3vp::processor
