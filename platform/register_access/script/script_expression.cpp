#include "register_access/script/script_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "protocol/plain_name.h"
#include "register_access/names/register_names.h"
#include "register_access/script/statement.h"
#include "t3/kernel_handle.h"

namespace t3vp {
namespace {

constexpr const char* a_number = "a number, a variable or (";

bool is_of_variable(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Reader {
 public:
  Reader(std::string_view text, const ScriptVariables& variables, std::size_t column)
      : text_(text), variables_(variables), column_(column) {}

  std::uint64_t value() {
    const std::uint64_t result = sum();
    if (next() != '\0') reject("+, -, *, /, % or the end of the expression");
    return result;
  }

 private:
  static constexpr unsigned most_depth = 64;

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::uint64_t sum() {
    std::uint64_t left = product();
    for (char sign = next(); sign == '+' || sign == '-'; sign = next()) {
      const std::size_t sign_at = at_++;
      const std::uint64_t right = product();
      if (sign == '+' ? __builtin_add_overflow(left, right, &left) : __builtin_sub_overflow(left, right, &left))
        reject_at(sign_at, "a result from 0 to 0xffffffffffffffff");
    }
    return left;
  }

  std::uint64_t product() {
    std::uint64_t left = factor();
    for (char sign = next(); sign == '*' || sign == '/' || sign == '%'; sign = next()) {
      const std::size_t sign_at = at_++;
      const std::uint64_t right = factor();
      if (sign == '*') {
        if (__builtin_mul_overflow(left, right, &left)) reject_at(sign_at, "a result from 0 to 0xffffffffffffffff");
        continue;
      }
      if (right == 0) reject_at(sign_at, "a divisor other than 0");
      left = sign == '/' ? left / right : left % right;
    }
    return left;
  }

  std::uint64_t factor() {
    if (next() == '(') {
      if (++depth_ > most_depth) reject(fmt::format("at most {} parentheses in each other", most_depth));
      ++at_;
      const std::uint64_t inner = sum();
      if (next() != ')') reject(")");
      ++at_;
      --depth_;
      return inner;
    }
    if (next() == '$') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_variable(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) reject(a_number);
    if (word == "kernel" && next() == '(') return handle();
    if (is_variable_name(word)) return value_of_variable(word, variables_, column_ + begin);
    const std::optional<std::uint64_t> number = number_of(word);
    if (!number) throw ScriptError(column_ + begin, std::string(word), a_number);
    return *number;
  }

  /// Reads a kernel's name in parentheses.
  std::uint64_t handle() {
    const std::size_t begin = ++at_, end = text_.find(')', begin);
    const std::string name(text_.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos || !is_plain_name(name))
      reject(fmt::format("a kernel's name and ): {}", a_plain_name));
    at_ = end + 1;
    return t3_kernel_handle(name.c_str());
  }

  [[noreturn]] void reject(const std::string& expected) const { reject_at(at_, expected); }
  [[noreturn]] void reject_at(std::size_t at, const std::string& expected) const {
    throw ScriptError(column_ + at, std::string(text_.substr(std::min(at, text_.size()), 1)), expected);
  }

  std::string_view text_;
  const ScriptVariables& variables_;
  std::size_t column_, at_ = 0;
  unsigned depth_ = 0;
};

}  // namespace

bool is_variable_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), is_of_variable);
}

std::uint64_t value_of_variable(std::string_view name, const ScriptVariables& variables, std::size_t column) {
  if (const auto found = variables.find(name); found != variables.end()) return found->second;
  std::string names;
  for (const auto& [known, value] : variables) names += (names.empty() ? "one of " : ", ") + known;
  throw ScriptError(column, std::string(name),
                    names.empty() ? "a variable that `let` has set: there is none" : "a variable: " + names);
}

std::uint64_t value_of_expression(std::string_view text, const ScriptVariables& variables, std::size_t column) {
  return Reader(text, variables, column).value();
}

}  // namespace t3vp
