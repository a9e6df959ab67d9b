// What a guest is told about a wrong access: the register, what was found, what is expected.
#include <fmt/format.h>

#include "registers/access_rules.h"
#include "registers/register_block.h"

namespace t3vp {

// models/protocol knows the codes as numbers only.
static_assert(malformed_argument == static_cast<std::uint32_t>(Status::invalid_argument));
static_assert(malformed_address == static_cast<std::uint32_t>(Status::bad_address));
static_assert(malformed_access == static_cast<std::uint32_t>(Status::bad_access));

namespace {

std::string name_of(const BlockDescription& block, const RegisterDescription& d, std::size_t element) {
  if (d.count == 1) return fmt::format("{}.{}", block.name, d.name);
  return fmt::format("{}.{}[{}]", block.name, d.name, element);
}

std::size_t element_at(const RegisterDescription& d, std::uint64_t offset) {
  return d.count == 1 ? 0 : (offset - d.offset) / d.stride;
}

std::string members_of(const FieldDescription& field) {
  std::string text;
  for (const EnumerationValue& member : field.values)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", member.name, member.value);
  return text;
}

}  // namespace

void RegisterBlock::report(Status code, std::uint64_t address, const std::string& text) {
  if (errors.size() == 0) return;
  errors->report(description_.name, {static_cast<std::uint32_t>(code), address, text});
}

void RegisterBlock::refuse(Status code, std::uint64_t address, const std::string& text) {
  refused_ = true;
  report(code, address, text);
}

tlm::tlm_response_status RegisterBlock::no_register_at(std::uint64_t address) {
  report(Status::bad_address, address,
         fmt::format("{}: no register at offset {:#x}, expected one of those between 0x0 and {:#x}", description_.name,
                     address, slots_.size() * 4 - 1));
  return tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::bad_shape(const RegisterState& state, std::uint64_t offset,
                                                  const tlm::tlm_generic_payload& transaction) {
  const RegisterDescription& d = *state.description;
  const bool has_enables = transaction.get_byte_enable_ptr() != nullptr;
  const std::string how = has_enables ? " with byte enables"
                          : transaction.get_data_ptr() == nullptr
                              ? " without data"
                              : fmt::format(" (streaming width {})", transaction.get_streaming_width());
  report(Status::bad_access, transaction.get_address(),
         fmt::format("{}: {} bytes at offset {:#x}{}, expected {} bytes at {:#x}{}",
                     name_of(description_, d, element_at(d, offset)), transaction.get_data_length(),
                     transaction.get_address(), how, d.bytes, offset, has_enables ? " without" : ""));
  return has_enables ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::half_without_low(const RegisterState& state, std::size_t element,
                                                         const char* how) {
  const RegisterDescription& d = *state.description;
  const std::uint64_t offset = d.offset + element * d.stride;
  report(Status::bad_access, offset + 4,
         fmt::format("{}: high half {} at {:#x}, expected the low half at {:#x} before it",
                     name_of(description_, d, element), how, offset + 4, offset));
  return tlm::TLM_BURST_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::denied(const RegisterState& state, std::size_t element, const char* why) {
  const RegisterDescription& d = *state.description;
  report(Status::access_denied, d.offset + element * d.stride,
         fmt::format("{}: {}", name_of(description_, d, element), why));
  return tlm::TLM_COMMAND_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::bad_value(const RegisterState& state, std::size_t element,
                                                  std::uint64_t value) {
  const RegisterDescription& d = *state.description;
  const std::string name = name_of(description_, d, element);
  const std::uint64_t reserved = value & ~state.known;
  const FieldDescription* field = field_without_member(state, value);
  const std::string text = reserved != 0
                               ? fmt::format("{}: {:#x} sets reserved bits {:#x}, expected bits of {:#x} only", name,
                                             value, reserved, state.known)
                               : fmt::format("{}.{}: {}, expected one of {}", name, field->name,
                                             (value & field->mask()) >> field->shift, members_of(*field));
  report(Status::bad_value, d.offset + element * d.stride, text);
  return tlm::TLM_GENERIC_ERROR_RESPONSE;
}

}  // namespace t3vp
