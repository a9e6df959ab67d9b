#include "experiment/measurements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/input_error.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

std::vector<MeasuredFile> known_files() {
  return {measured_collective_workgroups(),
          measured_collectives(),
          measured_decoding(),
          measured_decompositions(),
          measured_embeddings(),
          measured_exchanged_embeddings(),
          measured_fused_stores(),
          measured_gemm_traffic(),
          measured_gemm_energy(),
          measured_gemms(),
          measured_contention(),
          measured_known_contention(),
          measured_library_contention(),
          measured_orders(),
          measured_sequences(),
          measured_split_depths()};
}

/// They measure what parameters of the system say.
constexpr const char* files_without_runs[] = {"energy.csv",   "hbm.csv",        "latency.csv",
                                              "peer_dma.csv", "stream_sms.csv", "vector.csv"};

std::vector<std::string> csv_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".csv") names.push_back(entry->path().filename().string());
  if (error)
    throw InputError("--data " + folder.string(), fmt::format("no folder that can be read ({})", error.message()),
                     "a folder with measured times");
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

/// Rows that are left out are read as well: their values have to be right.
void read_row(const MeasuredRow& row, const MeasuredFile& kind, Measurements& found) {
  std::vector<Measurement> values = kind.values_in(row);
  const std::string reason = kind.reason_to_leave_out == nullptr ? "" : kind.reason_to_leave_out(row);
  if (!reason.empty()) {
    found.left_out.push_back(fmt::format("{}: row {} is left out: {}", kind.name, row.number(), reason));
    return;
  }
  for (Measurement& value : values) {
    value.file = kind.name;
    value.row = row.number();
    found.values.push_back(std::move(value));
  }
}

void read_file(const fs::path& file, const MeasuredFile& kind, Measurements& found) {
  const CsvTable table = read_csv(file, kind.columns, 1);
  require_columns(table, kind);
  for (std::size_t i = 0; i < table.rows.size(); ++i) read_row(MeasuredRow(table, i), kind, found);
}

bool has_no_runs(const std::string& name) {
  return std::find(std::begin(files_without_runs), std::end(files_without_runs), name) != std::end(files_without_runs);
}

}  // namespace

std::vector<std::string> simulated_files() {
  std::vector<std::string> names;
  for (const MeasuredFile& one : known_files()) names.push_back(one.name);
  std::sort(names.begin(), names.end());
  return names;
}

Measurements read_measurements(const fs::path& folder) {
  const std::vector<MeasuredFile> kinds = known_files();
  Measurements found;
  bool any = false;
  for (const std::string& name : csv_files(folder)) {
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const MeasuredFile& one) { return one.name == name; });
    if (kind != kinds.end()) {
      any = true;
      read_file(folder / name, *kind, found);
    } else {
      (has_no_runs(name) ? found.set_aside : found.unread).push_back(name);
    }
  }
  if (!any && found.set_aside.empty())
    throw InputError("--data " + folder.string(), "none of the known files",
                     fmt::format("one of {}", fmt::join(simulated_files(), ", ")));
  return found;
}

}  // namespace t3vp
