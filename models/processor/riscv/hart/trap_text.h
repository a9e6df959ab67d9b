// Traps in words, for people.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hart/hart.h"

namespace t3vp::riscv {

/// "illegal instruction (cause 2)", "timer interrupt", of what mcause holds.
std::string name_of_trap(std::uint64_t mcause);

/// Describes a hart that is lost: how its trap handler fails, and what the handler was called for first. `place`
/// returns the text for an address in the program.
std::string text_of_loss(const Hart& hart, const std::function<std::string(std::uint64_t address)>& place);

}  // namespace t3vp::riscv
