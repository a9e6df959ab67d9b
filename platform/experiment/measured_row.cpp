#include "experiment/measured_row.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "io/input_error.h"
#include "io/json_document.h"

namespace t3vp {
namespace {

/// False unless all of the text is a number.
template <typename T>
bool read_number(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

const std::string& MeasuredRow::text(const std::string& column) const {
  const auto found = std::find(table_.columns.begin(), table_.columns.end(), column);
  return table_.rows[index_][static_cast<std::size_t>(found - table_.columns.begin())];
}

const std::string& MeasuredRow::name(const std::string& column, const std::vector<std::string>& names) const {
  const std::string& given = text(column);
  if (std::find(names.begin(), names.end(), given) == names.end())
    reject(column, fmt::format("one of {}", fmt::join(names, ", ")));
  return given;
}

std::uint64_t MeasuredRow::count(const std::string& column, std::uint64_t least, std::uint64_t most) const {
  std::uint64_t value = 0;
  if (!read_number(text(column), value) || value < least || value > most)
    reject(column, fmt::format("an integer from {} to {}", least, most));
  return value;
}

double MeasuredRow::amount(const std::string& column) const {
  double value = 0;
  if (!read_number(text(column), value) || !std::isfinite(value) || value <= 0) reject(column, "a number above 0");
  return value;
}

void MeasuredRow::reject(const std::string& column, const std::string& expected) const {
  const std::string& given = text(column);
  throw InputError(fmt::format("{}: {}", table_.place_of(index_), column), given.empty() ? "nothing" : shortened(given),
                   expected);
}

}  // namespace t3vp
