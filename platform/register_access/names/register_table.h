// Which register lies where in the windows of a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "registers/register_description.h"

namespace t3vp {

/// A register's or element's place in a block.
struct RegisterSlot {
  const RegisterDescription* description = nullptr;  ///< null: there is none
  std::uint32_t element = 0;
};

/// Returns the slot of the word at this offset in the block of this window.
RegisterSlot slot_of(std::size_t window, std::uint64_t offset);

}  // namespace t3vp
