#include "register_access/script/comparison_fault.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

using Part = ComparisonPart;
using Fault = std::optional<ComparisonFault>;

/// Bits that a read of the register may have; the others are 0.
std::uint64_t readable_bits(const RegisterDescription& description) {
  std::uint64_t bits = 0;
  for (const FieldDescription& field : description.fields)
    if (field.access != Access::wo) bits |= field.mask();
  return description.fields.empty() ? ~std::uint64_t{0} >> (64 - 8 * description.bytes) : bits;
}

bool is_member(const FieldDescription& field, std::uint64_t value) {
  return field.values.empty() || std::any_of(field.values.begin(), field.values.end(),
                                             [&](const EnumerationValue& member) { return member.value == value; });
}

bool is_of_equality(Relation relation) { return relation == Relation::equal || relation == Relation::not_equal; }

/// Returns whether the comparison may be true or false, when the value read has some of these bits.
bool may_go_either_way(Relation relation, std::uint64_t value, std::uint64_t bits) {
  switch (relation) {
    case Relation::equal:
    case Relation::not_equal:
      return (value & ~bits) == 0;
    case Relation::less:
    case Relation::greater_equal:
      return value != 0 && value <= bits;
    case Relation::less_equal:
    case Relation::greater:
      return value < bits;
  }
  return true;
}

Fault fault_of_bits(const Statement& s, std::uint64_t bits) {
  if (may_go_either_way(s.relation, s.value, bits)) return {};
  const std::string name = name_of(s.place);
  if (is_of_equality(s.relation))
    return ComparisonFault{
        Part::value, fmt::format("no bits but {:#x}{}: {} has no others", bits, s.mask ? " of the mask" : "", name)};
  return ComparisonFault{Part::value, fmt::format("a value that makes a difference: {} is 0 to {:#x}{}", name, bits,
                                                  s.mask ? " with this mask" : "")};
}

/// Returns the fault for a register whose fields have names for their values.
Fault fault_of_members(const Statement& s, std::uint64_t bits) {
  if (!is_of_equality(s.relation)) return {};
  for (const FieldDescription& field : s.place.description->fields) {
    const bool is_whole = (field.mask() & ~bits) == 0;
    if (is_whole && !is_member(field, (s.value & field.mask()) >> field.shift))
      return ComparisonFault{Part::value, fmt::format("for {} one of {}", field.name, names_of_values(field))};
  }
  return {};
}

Fault fault_in_field(const Statement& s) {
  const FieldDescription& field = *s.place.field;
  if (!field.values.empty() && !is_of_equality(s.relation))
    return ComparisonFault{Part::relation,
                           fmt::format("== or !=: the values of {} are names without an order", name_of(s.place))};
  if (!is_member(field, s.value)) return ComparisonFault{Part::value, "one of " + names_of_values(field)};
  return fault_of_bits(s, field.mask() >> field.shift);
}

Fault fault_in_register(const Statement& s) {
  const std::uint64_t readable = readable_bits(*s.place.description), bits = readable & s.mask.value_or(readable);
  if (bits == 0)
    return ComparisonFault{Part::mask,
                           fmt::format("a mask with bits of {}, which are {:#x}", name_of(s.place), readable)};
  const Fault fault = fault_of_bits(s, bits);
  return fault ? fault : fault_of_members(s, bits);
}

}  // namespace

std::optional<ComparisonFault> fault_of_comparison(const Statement& statement) {
  if (statement.place.description->access == Access::wo) return {};
  return statement.place.field == nullptr ? fault_in_register(statement) : fault_in_field(statement);
}

}  // namespace t3vp
