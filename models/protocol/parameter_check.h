// Checks of the parameters that a block is constructed with. Plain C++.
//
// Ranges come from the descriptions: <folder>/<name>_ranges.h is generated from <name>.parameters.json. A rule between
// several parameters is in the header that the description names as its "rules". Readers of files use the same rules.
#pragma once

#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace t3vp {

/// A block was constructed with a parameter that it cannot have. The text has one line:
/// "node.gpu0.cache: banks is 0, expected 1 to 65536, a power of two".
class ParameterError : public std::invalid_argument {
 public:
  ParameterError(const std::string& block, const std::string& name, const std::string& value,
                 const std::string& expected);

  const std::string parameter;  ///< name of the structure's member
};

/// The check of one block's parameters.
class ParameterCheck {
 public:
  /// `block` is how an error names it.
  explicit ParameterCheck(std::string block) : block_(std::move(block)) {}

  /// Throws ParameterError unless the parameter holds.
  template <typename T>
  void require(bool holds, const std::string& parameter, const T& value, const std::string& expected) const {
    if (!holds) fail(parameter, text_of(value), expected);
  }

  /// Returns the check of a structure that is a member of this block's.
  ParameterCheck below(const std::string& member) const;

  static constexpr bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

 private:
  template <typename T>
  static std::string text_of(const T& value) {
    std::ostringstream text;
    text.precision(10);
    text << value;
    return text.str();
  }
  [[noreturn]] void fail(const std::string& parameter, const std::string& value, const std::string& expected) const;

  std::string block_, prefix_;
};

/// The parameter that a rule is about.
struct RuleSubject {
  std::string pointer;  ///< JSON pointer from the structure's section of a file
  std::string member;   ///< of the structure
  double value;         ///< of the member
};

/// Takes each rule of a structure: whether it holds, which parameter it is about, and what was expected.
using RuleCheck = std::function<void(bool holds, const RuleSubject& subject, const std::string& expected)>;

/// Rules that throw ParameterError.
inline RuleCheck rules_of(const ParameterCheck& check) {
  return [check](bool holds, const RuleSubject& subject, const std::string& expected) {
    check.require(holds, subject.member, subject.value, expected);
  };
}

}  // namespace t3vp
