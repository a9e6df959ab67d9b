// The possible continuations of an incomplete statement, for a prompt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "register_access/script/statement.h"

namespace t3vp {

struct Suggestions {
  std::size_t begun = 0;           ///< characters at the end of the line that every text begins with
  std::vector<std::string> texts;  ///< whole words: verbs, names up to their next part, names of values
};

Suggestions suggestions_for(std::string_view line, const ScriptMachine& machine);

}  // namespace t3vp
