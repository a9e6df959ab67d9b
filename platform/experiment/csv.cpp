#include "experiment/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "io/input_error.h"
#include "io/input_file.h"

namespace t3vp {
namespace {

/// The next row, which quotes may spread over several lines; false at the end.
bool read_row(std::istream& in, std::vector<std::string>& row) {
  row.assign(1, "");
  bool quoted = false, any = false;
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    any = true;
    if (c == '"' && quoted && in.peek() == '"')
      row.back() += static_cast<char>(in.get());
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      row.emplace_back();
    else if (c == '\n' && !quoted)
      return true;
    else if (c != '\r' || quoted)
      row.back() += static_cast<char>(c);
  }
  return any;
}

std::string quoted(const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string text = "\"";
  for (const char c : value) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string CsvTable::place_of(std::size_t row) const { return fmt::format("{}: row {}", file, row + first_row); }

std::optional<double> CsvTable::number(const std::string& key, const std::string& value,
                                       const std::string& column) const {
  const auto index = [this](const std::string& name) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
  };
  std::optional<double> found;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r][index(key)] != value) continue;
    if (found) throw InputError(place_of(r), fmt::format("{} {} again", key, value), "one row for each");
    const std::string& text = rows[r][index(column)];
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
      throw InputError(place_of(r), text.empty() ? "nothing" : text, "a number that fits a double");
    found = number;
  }
  return found;
}

std::string CsvTable::text(const std::string& key, const std::string& value, const std::string& column) const {
  const auto index = [this](const std::string& name) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
  };
  if (index(key) == columns.size() || index(column) == columns.size()) return "";
  for (const std::vector<std::string>& row : rows)
    if (row[index(key)] == value) return row[index(column)];
  return "";
}

CsvTable read_csv(const std::filesystem::path& file, const std::vector<std::string>& required_columns,
                  std::size_t first_row) {
  std::string text = read_input(file, "CSV file");
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);  // spreadsheets mark UTF-8 by it
  std::istringstream in(text);
  CsvTable table;
  table.file = file.string();
  table.first_row = first_row;
  read_row(in, table.columns);
  for (const std::string& column : required_columns)
    if (std::find(table.columns.begin(), table.columns.end(), column) == table.columns.end())
      throw InputError(file.string(), "no column " + column, "a CSV file with the column " + column);
  for (auto column = table.columns.begin(); column != table.columns.end(); ++column)
    if (std::find(table.columns.begin(), column, *column) != column)
      throw InputError(file.string(), fmt::format("the column {} twice", *column), "each column once");
  for (std::vector<std::string> row; read_row(in, row);) {
    const bool is_blank = row.size() == 1 && row.front().empty() && table.columns.size() > 1;
    if (is_blank) continue;
    if (row.size() != table.columns.size())
      throw InputError(table.place_of(table.rows.size()), fmt::format("{} values", row.size()),
                       fmt::format("{}", table.columns.size()));
    table.rows.push_back(row);
  }
  return table;
}

std::string csv_line(const std::vector<std::string>& values) {
  std::string line;
  for (const std::string& value : values) line += (&value == values.data() ? "" : ",") + quoted(value);
  return line + "\n";
}

}  // namespace t3vp
