// Names of registers as docs/reference/registers.md has them: `gpu0.dma.command.action` is a field,
// `gpu1.signals.value[3]` an element of an array. Made from the descriptions in models/*/*.registers.json and
// models/gpu.json, without SystemC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "registers/register_description.h"

namespace t3vp {

/// A register or an element of an array of registers, or a field of it.
struct RegisterPlace {
  std::uint64_t gpu = 0;
  const BlockDescription* block = nullptr;
  const RegisterDescription* description = nullptr;
  std::uint32_t element = 0;                ///< 0 unless it is an array
  const FieldDescription* field = nullptr;  ///< null: all of the register
  std::uint64_t address = 0;                ///< of the register, in the node's address space

  /// Its bits in the register.
  std::uint64_t mask() const;
};

/// A text that is no name or no value: from which character on, what stands there, and what could.
struct NameError : std::runtime_error {
  NameError(std::size_t place, std::string what_is_found, std::string what_is_expected);

  std::size_t position;  ///< in the text, from 0
  std::string found, expected;
};

/// Blocks of a GPU in the order of their windows.
const std::vector<const BlockDescription*>& register_blocks();
/// Adds the block of a library in this window, which every GPU has. Spare windows before it become blocks without
/// registers.
void add_register_block(std::size_t window, const BlockDescription& block);

/// `gpu` is whose registers are meant where the name does not begin with one. Throws NameError.
RegisterPlace find_register(std::string_view name, std::optional<std::uint64_t> gpu = std::nullopt);

/// All registers of the block, and all elements of arrays, in their order: of "gpu0.dma". Empty when the name is none
/// of a block.
std::vector<RegisterPlace> registers_of_block(std::string_view name);

/// The register that has the byte at an address of the node; none where there is no register.
std::optional<RegisterPlace> register_at(std::uint64_t address);

std::string name_of(const RegisterPlace& place);

/// Returns the name without GPU, block and field: "status", "value[3]".
std::string name_in_block(const RegisterPlace& place);

/// Returns the name of any address of the node: of a register and, with "+4", its high half; else of a block,
/// "gpu0.dma+0x200", or "gpu0.memory+0x1000" or "gpu0+0xf0000ff0000".
std::string name_of_address(std::uint64_t address);

/// Returns the place's value in words: "action = add, operation = none, force = 0", or "add" for a field.
std::string text_of_value(const RegisterPlace& place, std::uint64_t register_value);

/// A number, or the name of a value that the field can have, as it stands in the field: not shifted. Throws NameError.
std::uint64_t value_of(const RegisterPlace& place, std::string_view text);

/// "fp16 (0), bf16 (1)"; empty when the field has none.
std::string names_of_values(const FieldDescription& field);

/// Decimal, or hexadecimal behind 0x; nothing when it is none or has more than 64 bits.
std::optional<std::uint64_t> number_of(std::string_view text);

/// All names that begin like this, each up to its next part only: of "gpu0.d" "gpu0.dma.". For `gpus` GPUs.
std::vector<std::string> completions_of(std::string_view beginning, std::uint64_t gpus);

}  // namespace t3vp
