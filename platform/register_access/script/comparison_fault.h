// Comparisons of registers that say nothing: they hold whatever is read, or never.
#pragma once

#include <optional>
#include <string>

#include "register_access/script/statement.h"

namespace t3vp {

enum class ComparisonPart { relation, value, mask };

/// Which part is wrong, and what could stand there.
struct ComparisonFault {
  ComparisonPart part;
  std::string expected;
};

/// Returns the fault of an expectation of a register or field, or of a wait for it. Write-only registers have none: the
/// hardware refuses to read them.
std::optional<ComparisonFault> fault_of_comparison(const Statement& statement);

}  // namespace t3vp
