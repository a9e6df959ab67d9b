#include "experiment/expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace t3vp {
namespace {

using Lookup = Expression::Lookup;
using Node = std::function<double(const Lookup&)>;

/// Unlike std::max and std::min: what is no number is not forgotten.
double largest(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b); }
double smallest(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b); }

double quotient(double a, double b) {
  if (b == 0 && !std::isnan(a)) throw ArithmeticError("division by zero");
  return a / b;
}

class Parser {
 public:
  Parser(const std::string& text, std::vector<Expression::Reference>& references)
      : text_(text), references_(references) {}

  Node whole() {
    if (text_.size() > longest) throw ExpressionError("at most " + std::to_string(longest) + " characters");
    Node node = sum();
    if (peek() != '\0') fail("an operator");
    return node;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void require(char c) {
    if (!take(c)) fail(std::string(1, c));
  }

  [[noreturn]] void fail(const std::string& expected) {
    throw ExpressionError(expected + (at_ < text_.size() ? " in place of " + text_.substr(at_) : " at the end"));
  }

  Node sum() {
    Node left = product();
    for (;;) {
      if (take('+'))
        left = [l = left, r = product()](const Lookup& lookup) { return l(lookup) + r(lookup); };
      else if (take('-'))
        left = [l = left, r = product()](const Lookup& lookup) { return l(lookup) - r(lookup); };
      else
        return left;
    }
  }

  Node product() {
    Node left = factor();
    for (;;) {
      if (take('*'))
        left = [l = left, r = factor()](const Lookup& lookup) { return l(lookup) * r(lookup); };
      else if (take('/'))
        left = [l = left, r = factor()](const Lookup& lookup) { return quotient(l(lookup), r(lookup)); };
      else
        return left;
    }
  }

  Node factor() {
    if (++depth_ > most_nested) fail("fewer parentheses");
    Node node = primary();
    --depth_;
    return node;
  }

  Node primary() {
    if (take('-')) return [inner = factor()](const Lookup& lookup) { return -inner(lookup); };
    if (take('(')) {
      Node inner = sum();
      require(')');
      return inner;
    }
    const auto c = static_cast<unsigned char>(peek());
    if (std::isdigit(c)) return number();
    if (std::isalpha(c)) return named();
    fail("a number, a report's key or (");
  }

  Node number() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a number that fits a double");
    at_ = static_cast<std::size_t>(end - text_.data());
    return [value](const Lookup&) { return value; };
  }

  Node named() {
    const auto begin = at_;
    const auto belongs = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (take('(')) return function(name, begin);
    require('[');
    const auto close = text_.find(']', at_);
    if (close == std::string::npos) fail("a method and ]");
    const std::string method = text_.substr(at_, close - at_);
    at_ = close + 1;
    references_.push_back({name, method});
    return [name, method](const Lookup& lookup) { return lookup(name, method); };
  }

  Node function(const std::string& name, std::size_t begin) {
    std::vector<Node> arguments{sum()};
    while (take(',')) arguments.push_back(sum());
    require(')');
    if (name == "abs" && arguments.size() == 1)
      return [inner = arguments[0]](const Lookup& lookup) { return std::abs(inner(lookup)); };
    if (name == "max" || name == "min")
      return [arguments, choose = name == "max" ? largest : smallest](const Lookup& lookup) {
        double result = arguments[0](lookup);
        for (std::size_t i = 1; i < arguments.size(); ++i) result = choose(result, arguments[i](lookup));
        return result;
      };
    at_ = begin;
    fail("max(a, b, ...), min(a, b, ...) or abs(a)");
  }

  static constexpr int most_nested = 100;
  static constexpr std::size_t longest = 4096;

  const std::string& text_;
  std::vector<Expression::Reference>& references_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression::Expression(const std::string& text) : value_(Parser(text, references_).whole()) {}

double Expression::evaluate(const Lookup& lookup) const {
  bool complete = true;
  const double value = value_([&](const std::string& key, const std::string& method) {
    const double found = lookup(key, method);
    if (std::isnan(found)) complete = false;
    return found;
  });
  if (complete && !std::isfinite(value)) throw ArithmeticError("a result that is no finite number");
  return complete ? value : std::nan("");
}

}  // namespace t3vp
