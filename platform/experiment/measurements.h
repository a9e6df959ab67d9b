// Files of times that were measured on real GPUs, and the runs that predict them (docs/validation/h200.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/measured_row.h"

namespace t3vp {

/// A run, and what of it is part of a time.
struct PartOfTime {
  std::vector<std::string> settings;  ///< "path=value"
  std::string figure;                 ///< in ns: "time_ns.gemm"
  double times = 1;                   ///< that it counts
};

/// One measured time.
struct Measurement {
  std::string file;  ///< without its folder
  std::size_t row = 0;
  std::string quantity;  ///< the column
  double measured_us = 0;
  std::vector<PartOfTime> parts;  ///< which predict it together
  bool has_host_launch = false;   ///< the measured time, beside what the figures say
};

/// A kind of file, by its name; all columns have to be there and no others.
struct MeasuredFile {
  std::string name;
  std::vector<std::string> columns;
  /// The times in a row, without file and row.
  std::vector<Measurement> (*times_in)(const MeasuredRow& row);
};

/// One for each kind, in a source of its own.
MeasuredFile measured_gemms();
MeasuredFile measured_collectives();
MeasuredFile measured_embeddings();

struct Measurements {
  std::vector<Measurement> times;   ///< file after file, row after row
  std::vector<std::string> unread;  ///< CSV files of other names
};

/// Reads the files of known names in the folder. Throws InputError about a file or row that is not as it should be, and
/// about a folder without a known file.
Measurements read_measurements(const std::filesystem::path& folder);

}  // namespace t3vp
