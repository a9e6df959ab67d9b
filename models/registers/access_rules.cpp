#include "registers/access_rules.h"

#include <algorithm>

namespace t3vp {
namespace {

void classify(RegisterState& state, Access access, std::uint64_t mask) {
  state.known |= mask;
  if (access != Access::wo) state.readable |= mask;
  switch (access) {
    case Access::rw:
    case Access::wo:
      state.replaced |= mask;
      break;
    case Access::w1c:
      state.cleared_by_one |= mask;
      break;
    case Access::w1s:
      state.set_by_one |= mask;
      break;
    case Access::rc:
      state.cleared_by_read |= mask;
      break;
    case Access::ro:
      break;
  }
}

bool is_member(const FieldDescription& field, std::uint64_t value) {
  return std::any_of(field.values.begin(), field.values.end(),
                     [value](const EnumerationValue& member) { return member.value == value; });
}

}  // namespace

RegisterState initial_state(const RegisterDescription& description, std::uint64_t* values) {
  RegisterState state;
  state.description = &description;
  state.values = values;
  state.may_read = description.access != Access::wo;
  state.may_write = description.access != Access::ro && description.access != Access::rc;
  for (const FieldDescription& field : description.fields) classify(state, field.access, field.mask());
  if (description.fields.empty())
    classify(state, description.access, ~std::uint64_t{0} >> (64 - 8 * description.bytes));
  return state;
}

const FieldDescription* field_without_member(const RegisterState& state, std::uint64_t written) {
  for (const FieldDescription& field : state.description->fields) {
    const bool checked = !field.values.empty() && (field.mask() & state.replaced) != 0;
    if (checked && !is_member(field, (written & field.mask()) >> field.shift)) return &field;
  }
  return nullptr;
}

bool is_legal(const RegisterState& state, std::uint64_t written) {
  return (written & ~state.known) == 0 && field_without_member(state, written) == nullptr;
}

}  // namespace t3vp
