// Files of values that were measured on real GPUs, and the runs that predict them (docs/validation/h200.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/measured_row.h"

namespace t3vp {

/// A run, and what of it is part of a value.
struct PartOfValue {
  std::vector<std::string> settings;  ///< "path=value"
  std::string figure;                 ///< of its report: "time_ns.gemm"; empty: 1, and there is no run
  double times = 1;                   ///< that it counts
};

/// One measured value.
struct Measurement {
  std::string file;  ///< without its folder
  std::size_t row = 0;
  std::string quantity;     ///< the column
  std::string unit = "us";  ///< of the column: us, bytes, GB/s or J
  double measured = 0;
  std::vector<PartOfValue> parts;       ///< which predict it together
  std::vector<PartOfValue> divided_by;  ///< the sum of these divides the sum of `parts`; none: nothing does
  unsigned host_launches = 0;           ///< in the measured time, beside what the figures say
};

/// A kind of file, by its name; all columns have to be there and no others.
struct MeasuredFile {
  std::string name;
  std::vector<std::string> columns;
  /// The values in a row, without file and row.
  std::vector<Measurement> (*values_in)(const MeasuredRow& row) = nullptr;
  /// Returns why a row is not simulated, or nothing. Null: every row is.
  std::string (*reason_to_leave_out)(const MeasuredRow& row) = nullptr;
};

/// Each is in the source of its file.
MeasuredFile measured_gemms();
MeasuredFile measured_decoding();
MeasuredFile measured_orders();
MeasuredFile measured_split_depths();
MeasuredFile measured_gemm_traffic();
MeasuredFile measured_gemm_energy();
MeasuredFile measured_collectives();
MeasuredFile measured_collective_workgroups();
MeasuredFile measured_sequences();
MeasuredFile measured_decompositions();
MeasuredFile measured_fused_stores();
MeasuredFile measured_exchanged_embeddings();
MeasuredFile measured_embeddings();
MeasuredFile measured_contention();
MeasuredFile measured_known_contention();
MeasuredFile measured_library_contention();

struct Measurements {
  std::vector<Measurement> values;     ///< file after file, row after row
  std::vector<std::string> left_out;   ///< a line for each row that is not simulated, with the reason
  std::vector<std::string> set_aside;  ///< files that measure parameters or what no report has
  std::vector<std::string> unread;     ///< CSV files of other names
};

/// The names of the known files that runs predict, in order.
std::vector<std::string> simulated_files();

/// Reads the files of known names in the folder. Throws InputError about a file or row that is not as it should be, and
/// about a folder without a known file.
Measurements read_measurements(const std::filesystem::path& folder);

}  // namespace t3vp
