// A row of a table of measured times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/csv.h"

namespace t3vp {

/// What stands in a row, by the names of its columns, which the table is known to have. Each throws InputError with
/// file and row about what is not as it should be.
class MeasuredRow {
 public:
  MeasuredRow(const CsvTable& table, std::size_t index) : table_(table), index_(index) {}

  /// From 1, the header not counted.
  std::size_t number() const { return index_ + 1; }
  const std::string& text(const std::string& column) const;
  /// One of `names`.
  const std::string& name(const std::string& column, const std::vector<std::string>& names) const;
  std::uint64_t count(const std::string& column, std::uint64_t least, std::uint64_t most) const;
  /// More than 0.
  double amount(const std::string& column) const;

  [[noreturn]] void reject(const std::string& column, const std::string& expected) const;

 private:
  const CsvTable& table_;
  std::size_t index_;
};

}  // namespace t3vp
