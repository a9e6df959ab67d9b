// Numbers of a script: variables, and + - * / % of whole numbers with parentheses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace t3vp {

using ScriptVariables = std::map<std::string, std::uint64_t, std::less<>>;

/// Returns the value of an expression. In it variables stand by their names, with or without a `$`, and kernel(NAME) is
/// the handle by which packets name a kernel. `column` is where
/// the text begins in its line. Throws ScriptError.
std::uint64_t value_of_expression(std::string_view text, const ScriptVariables& variables, std::size_t column);

/// Whether it is a name that a variable may have: letters, digits and underscores, and no digit first.
bool is_variable_name(std::string_view text);

/// Throws ScriptError about a variable that has no value.
std::uint64_t value_of_variable(std::string_view name, const ScriptVariables& variables, std::size_t column);

}  // namespace t3vp
