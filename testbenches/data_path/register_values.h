// All that a block shows, by name: registers, which a reset brings back to those of a new block, and statistics, which
// it leaves alone.
#pragma once

#include <map>
#include <string>

#include "data_path/named_registers.h"

namespace t3vp {

using Values = std::map<std::string, double>;

/// Every register that can be read, element by element: "completion 3".
inline Values register_values(const BlockDescription& block, NamedRegisters& registers) {
  Values values;
  for (const RegisterDescription& d : block.registers)
    for (std::size_t i = 0; d.access != Access::wo && i < d.count; ++i)
      values[d.name + (" " + std::to_string(i))] = static_cast<double>(registers.element(d.name, i));
  return values;
}

/// "statistic hits".
template <typename Block>
Values statistic_values(const Block& block) {
  Values values;
  block.visit_statistics([&](const std::string& name, const std::string&, const std::string&, double value) {
    values["statistic " + name] = value;
  });
  return values;
}

/// What a reset of the block leaves: registers of a new block, and statistics, which are of the whole run.
template <typename Block>
Values expected_after_reset(const Values& fresh_registers, const Block& block) {
  Values values = statistic_values(block);
  for (const auto& [name, value] : fresh_registers)
    if (name.rfind("statistic ", 0) != 0) values[name] = value;
  return values;
}

/// Registers and statistics.
template <typename Block>
Values shown_by(const Block& block, NamedRegisters& registers) {
  Values values = register_values(block.registers.description(), registers);
  values.merge(statistic_values(block));
  return values;
}

}  // namespace t3vp
