#include <catch2/catch.hpp>
#include <cmath>

#include "experiment/expression.h"
#include "experiment/results.h"

namespace t3vp::test::expression_test {

using t3vp::Expression;
using t3vp::ExpressionError;

namespace {

double lookup(const std::string& key, const std::string& method) {
  if (key == "time_ns.total" && method == "t3-mca") return 8;
  if (key == "time_ns.total" && method == "64 CUs, old") return 2;
  return std::nan("");
}

double value(const std::string& text) { return Expression(text).evaluate(lookup); }

}  // namespace

TEST_CASE("arithmetic has its usual precedence and goes from the left") {
  CHECK(value("1 + 2 * 3") == 7);
  CHECK(value("(1 + 2) * 3") == 9);
  CHECK(value("10 - 4 - 3") == 3);
  CHECK(value("16 / 4 / 2") == 2);
  CHECK(value("-2 * -3 - -1") == 7);
  CHECK(value("1.5e3/2") == 750);
}

TEST_CASE("functions take lists") {
  CHECK(value("max(1, 3, 2)") == 3);
  CHECK(value("min(4, 3 - 1)") == 2);
  CHECK(value("abs(1 - 3) * 2") == 4);
}

TEST_CASE("a key is looked up in the method's report, whatever the method is called") {
  CHECK(value("time_ns.total[t3-mca] / time_ns.total[64 CUs, old]") == 4);
  const Expression expression("max(a.b[x], c[y])");
  REQUIRE(expression.references().size() == 2);
  CHECK(expression.references()[0].key == "a.b");
  CHECK(expression.references()[1].method == "y");
}

TEST_CASE("a missing figure makes the whole missing") {
  for (const char* text : {"none[t3] + 1", "max(1, none[t3])", "max(none[t3], 1)", "min(none[t3], 1)", "abs(none[t3])"})
    CHECK(std::isnan(value(text)));
}

TEST_CASE("what is no expression is refused") {
  for (const char* text : {"", "1 +", "1 2", "(1", "1)", "a.b", "a.b[t3", "a[t3] b[t3]", "sqrt(4)", "max()", "max(1",
                           "abs(1, 2)", "1 ** 2", "[t3]", "*", "a[t3]]"}) {
    INFO(text);
    CHECK_THROWS_AS(Expression(text), ExpressionError);
  }
  CHECK_THROWS_AS(Expression(std::string(100'000, '(')), ExpressionError);
  CHECK_THROWS_AS(Expression(std::string(1'000, '-') + "1"), ExpressionError);
}

TEST_CASE("arithmetic without a result is an error, with figures missing it is missing") {
  for (const char* text : {"1 / 0", "0 / 0", "time_ns.total[t3-mca] / (2 - 2)", "-1 / -0", "1e308 * 10",
                           "1e308 * 10 * 0", "max(1e308 * 10 * 0, 1)", "min(1, 1e308 * 10 * 0)"}) {
    INFO(text);
    CHECK_THROWS_AS(value(text), t3vp::ArithmeticError);
  }
  CHECK(std::isnan(value("none[t3] / 1")));
  CHECK(value("0 / 5") == 0);
}

TEST_CASE("an aggregate over nothing or an infinity and a geomean over what is not positive are errors") {
  using t3vp::Aggregate;
  using t3vp::aggregate;
  for (const Aggregate how : {Aggregate::geomean, Aggregate::mean, Aggregate::max, Aggregate::min}) {
    CHECK_THROWS_AS(aggregate(how, {}), t3vp::ArithmeticError);
    for (const double infinity : {INFINITY, -INFINITY})
      CHECK_THROWS_AS(aggregate(how, {1, infinity}), t3vp::ArithmeticError);
  }
  for (const double value : {0.0, -0.0, -2.0})
    CHECK_THROWS_AS(aggregate(Aggregate::geomean, {1, value}), t3vp::ArithmeticError);
  CHECK(aggregate(Aggregate::geomean, {2, 8}) == Approx(4));
  CHECK(aggregate(Aggregate::mean, {0, -3}) == -1.5);
  CHECK(std::isnan(aggregate(Aggregate::geomean, {0, std::nan("")})));
}

}  // namespace t3vp::test::expression_test
