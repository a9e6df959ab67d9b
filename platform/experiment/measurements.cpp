#include "experiment/measurements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/input_error.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

std::vector<MeasuredFile> known_files() { return {measured_collectives(), measured_embeddings(), measured_gemms()}; }

std::vector<std::string> csv_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".csv") names.push_back(entry->path().filename().string());
  if (error) throw InputError("--data " + folder.string(), error.message(), "a folder with measured times");
  std::sort(names.begin(), names.end());
  return names;
}

void require_columns(const CsvTable& table, const MeasuredFile& kind) {
  auto given = table.columns, expected = kind.columns;
  std::sort(given.begin(), given.end());
  std::sort(expected.begin(), expected.end());
  if (given != expected)
    throw InputError(table.file, fmt::format("columns {}", fmt::join(table.columns, ",")),
                     fmt::format("{}", fmt::join(kind.columns, ",")));
  if (table.rows.empty()) throw InputError(table.file, "no row", "at least one");
}

void read_file(const fs::path& file, const MeasuredFile& kind, std::vector<Measurement>& times) {
  const CsvTable table = read_csv(file, kind.columns, 1);
  require_columns(table, kind);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredRow row(table, i);
    for (Measurement& time : kind.times_in(row)) {
      time.file = kind.name;
      time.row = row.number();
      times.push_back(std::move(time));
    }
  }
}

}  // namespace

Measurements read_measurements(const fs::path& folder) {
  Measurements found;
  std::vector<std::string> known;
  for (const MeasuredFile& kind : known_files()) known.push_back(kind.name);
  for (const std::string& name : csv_files(folder)) {
    const auto kind = std::find(known.begin(), known.end(), name);
    if (kind == known.end())
      found.unread.push_back(name);
    else
      read_file(folder / name, known_files()[static_cast<std::size_t>(kind - known.begin())], found.times);
  }
  if (found.times.empty())
    throw InputError("--data " + folder.string(), "none of the known files",
                     fmt::format("one of {}", fmt::join(known, ", ")));
  return found;
}

}  // namespace t3vp
