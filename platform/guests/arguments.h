// The arguments of the run file, as programs request them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace t3vp {

/// A whole number is a std::uint64_t or, below 0, a std::int64_t; every other one is a double.
using ArgumentValue = std::variant<bool, std::uint64_t, std::int64_t, double, std::string>;

class Arguments {
 public:
  using Values = std::map<std::string, ArgumentValue>;

  /// A request of a program for an argument that does not exist, or has another type or range.
  struct Refusal {
    std::string name, expected;

    template <typename Self>
    static auto fields(Self& self) {
      return std::tie(self.name, self.expected);
    }
  };

  explicit Arguments(Values values = {}) : values_(std::move(values)) {}

  const Values& values() const { return values_; }
  bool has(const std::string& name);
  /// Nothing when they are refused. A whole number is a number too.
  std::optional<std::uint64_t> whole_number(const std::string& name);
  std::optional<double> number(const std::string& name);
  std::optional<bool> truth(const std::string& name);
  const std::string* text(const std::string& name);

  const std::vector<Refusal>& refusals() const { return refusals_; }
  /// Arguments that no program has asked for.
  std::vector<std::string> unused() const;
  /// Takes what programs have requested, and what was refused, in all processes of the run.
  void take_of_all(const std::vector<std::string>& asked, std::vector<Refusal> refusals) {
    asked_ = {asked.begin(), asked.end()};
    refusals_ = std::move(refusals);
  }
  /// Returns the arguments that programs have requested.
  const std::set<std::string>& asked() const { return asked_; }

 private:
  const ArgumentValue* find(const std::string& name);
  template <typename Type>
  const Type* value(const std::string& name, const char* expected);

  Values values_;
  std::set<std::string> asked_;
  std::vector<Refusal> refusals_;
};

}  // namespace t3vp
