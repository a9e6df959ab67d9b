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

/// Of an expectation of a register or field, or a wait for it. Of registers that are only written nothing is said: the
/// hardware refuses to read them.
std::optional<ComparisonFault> fault_of_comparison(const Statement& statement);

}  // namespace t3vp
