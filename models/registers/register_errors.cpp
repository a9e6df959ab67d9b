// Messages about wrong accesses: the register, the value found and the value expected.
#include <fmt/format.h>

#include "registers/access_rules.h"
#include "registers/register_block.h"

namespace t3vp {

namespace {

std::string name_of(const BlockDescription& block, const RegisterDescription& d, std::size_t element) {
  if (d.count == 1) return fmt::format("{}.{}", block.name, d.name);
  return fmt::format("{}.{}[{}]", block.name, d.name, element);
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

std::uint64_t RegisterBlock::address_of(const RegisterDescription& d, std::size_t element) const {
  return base_ + d.offset + element * d.stride;
}

void RegisterBlock::refuse(Status code, const std::string& rule) {
  access_.refused = true;
  const RegisterDescription& d = *access_.state->description;
  const std::string what = access_.writes ? fmt::format("{:#x}", access_.value) : "read";
  report(code, address_of(d, access_.element),
         fmt::format("{}: {}, {}", name_of(description_, d, access_.element), what, rule));
}

tlm::tlm_response_status RegisterBlock::no_register_at(std::uint64_t address) {
  report(Status::bad_address, base_ + address,
         fmt::format("{}: no register at {:#x}, expected one of those between {:#x} and {:#x}", description_.name,
                     base_ + address, base_, base_ + slots_.size() * 4 - 1));
  return tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::bad_shape(const RegisterState& state, std::size_t element,
                                                  const tlm::tlm_generic_payload& transaction) {
  const RegisterDescription& d = *state.description;
  const bool has_enables = transaction.get_byte_enable_ptr() != nullptr;
  const bool streams = transaction.get_streaming_width() < transaction.get_data_length();
  const std::string how = has_enables                             ? " with byte enables"
                          : transaction.get_data_ptr() == nullptr ? " without data"
                          : streams ? fmt::format(" of streaming width {}", transaction.get_streaming_width())
                                    : "";
  const std::uint64_t address = base_ + transaction.get_address(), expected = address_of(d, element);
  const std::string halves =
      d.bytes == 8 && how.empty() ? fmt::format(", or 4 bytes there and then 4 at {:#x}", expected + 4) : "";
  report(Status::bad_access, address,
         fmt::format("{}: {} bytes at {:#x}{}, expected {} bytes at {:#x}{}{}", name_of(description_, d, element),
                     transaction.get_data_length(), address, how, d.bytes, expected, has_enables ? " without" : "",
                     halves));
  return has_enables ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::half_without_low(const RegisterState& state, std::size_t element,
                                                         const char* how) {
  const RegisterDescription& d = *state.description;
  const std::uint64_t low = address_of(d, element);
  report(Status::bad_access, low + 4,
         fmt::format("{}: high half {} at {:#x}, expected the low half at {:#x} before it",
                     name_of(description_, d, element), how, low + 4, low));
  return tlm::TLM_BURST_ERROR_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::denied(const RegisterState& state, std::size_t element,
                                               const std::string& why) {
  const RegisterDescription& d = *state.description;
  report(Status::access_denied, address_of(d, element), fmt::format("{}: {}", name_of(description_, d, element), why));
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
  report(Status::bad_value, address_of(d, element), text);
  return tlm::TLM_GENERIC_ERROR_RESPONSE;
}

}  // namespace t3vp
