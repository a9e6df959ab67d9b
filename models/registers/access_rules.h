// The rules that follow from a register's description, without a bus.
#pragma once

#include <cstdint>

#include "registers/register.h"

namespace t3vp {

/// Bits by access type; a register without fields is one field over its whole width.
RegisterState initial_state(const RegisterDescription& description, std::uint64_t* values);

/// Whether a write may carry this value: no reserved bit set, every enumerated field a member of its enumeration.
bool is_legal(const RegisterState& state, std::uint64_t written);

/// Null when every enumerated field that can be written holds a member of its enumeration.
const FieldDescription* field_without_member(const RegisterState& state, std::uint64_t written);

inline std::uint64_t value_after_write(const RegisterState& state, std::uint64_t before, std::uint64_t written) {
  const std::uint64_t stored = (before & ~state.replaced) | (written & state.replaced);
  return (stored & ~(written & state.cleared_by_one)) | (written & state.set_by_one);
}

}  // namespace t3vp
