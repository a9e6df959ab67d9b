// Arithmetic over the figures of reports: "time_ns.total[sequential] / time_ns.total[t3]".
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace t3vp {

/// What the text should have had and where.
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Figures that are all there have no result: a division by zero, a number that no double holds, a geometric mean over
/// what is not positive.
class ArithmeticError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Numbers, key[method], + - * /, parentheses, max(a, b, ...), min(a, b, ...) and abs(a).
class Expression {
 public:
  /// The figure `key` of a method's report; NaN where there is none.
  using Lookup = std::function<double(const std::string& key, const std::string& method)>;
  struct Reference {
    std::string key, method;
  };

  /// Throws ExpressionError.
  explicit Expression(const std::string& text);

  /// NaN when a figure is missing. Throws ArithmeticError.
  double evaluate(const Lookup& lookup) const;
  const std::vector<Reference>& references() const { return references_; }

 private:
  std::vector<Reference> references_;  // before value_, whose parsing fills it
  std::function<double(const Lookup&)> value_;
};

}  // namespace t3vp
