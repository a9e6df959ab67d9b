// Comma-separated values as spreadsheets read them (RFC 4180).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace t3vp {

struct CsvTable {
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::size_t first_row = 2;  ///< number of the first of them in messages; 2 counts the header as well

  /// Where an error message says that row is.
  std::string place_of(std::size_t row) const;
  /// The number in `column` of the row whose `key` column has `value`; none without such a row. Throws InputError when
  /// there are two such rows, or something else than a number that fits a double.
  std::optional<double> number(const std::string& key, const std::string& value, const std::string& column) const;
  /// The text in `column` of the first row whose `key` column has `value`; empty without such a row or column.
  std::string text(const std::string& key, const std::string& value, const std::string& column) const;
};

/// Throws InputError when a row is ragged or one of the columns missing.
CsvTable read_csv(const std::filesystem::path& file, const std::vector<std::string>& required_columns,
                  std::size_t first_row = 2);

/// One line, values with commas, quotes or line breaks quoted.
std::string csv_line(const std::vector<std::string>& values);

}  // namespace t3vp
