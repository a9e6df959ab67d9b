// Files of measured times, for tests of t3vp validate.
#pragma once

#include <string>
#include <vector>

#include "experiments/small_experiment.h"

namespace t3vp::test {

inline constexpr const char* gemm_header = "model,tp,sublayer,M,N,K,us,us_min,us_max\n";
inline constexpr const char* collectives_header = "gpus,op,mbytes,us,us_min,us_max\n";
inline constexpr const char* embeddings_header =
    "gpus,global_batch,tables_per_gpu,dim,pool,dtype,rel_err,emb_us,a2a_us,base_us,zero_us,emb_graph_us,zero_graph_us,"
    "base_graph_us\n";

/// A folder with files of measured times, and what `validate` makes of them.
class MeasuredTimes : public Folder {
 public:
  MeasuredTimes() { std::filesystem::create_directory(data()); }
  std::filesystem::path data() const { return *this / "data"; }
  std::filesystem::path table() const { return *this / "results" / "h200.csv"; }
  void put(const std::string& file, const std::string& text) const { write("data/" + file, text); }
  Outcome validate(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"validate", "h200", "--data", data(), "--out", *this / "results"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
};

}  // namespace t3vp::test
