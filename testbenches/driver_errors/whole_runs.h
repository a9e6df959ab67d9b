// Whole runs of programs that differ by GPU, and what they were answered.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "driver_errors/given_gemm.h"
#include "run/simulation.h"
#include "t3_hal.h"

namespace t3vp::test {

inline constexpr std::uint32_t most_gpus = 4;

/// What each GPU's program was answered, in order.
inline std::array<std::vector<t3_status>, most_gpus> answers;
inline std::array<std::uint64_t, most_gpus> ended_ns;

inline RunResult run(t3_program* program, const std::vector<std::string>& settings) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  std::vector<std::string> all{"system=" + configs + "systems/small-4.json", "data=timing-only"};
  all.insert(all.end(), settings.begin(), settings.end());
  RunOptions options;
  options.program = program;
  return simulate(load_run(configs + "runs/gemm-rs-4gpu.json", all), options);
}

/// A context and an output that is mapped for updates which no GPU sends.
struct Waiter {
  const t3_hal* hal;
  t3_context gpu{};
  t3_output out{};

  Waiter(const t3_hal* h, const t3_run* run) : hal(h) {
    out.tiling = tiling_of(run);
    out.matrix.rows = 4 * tiling_of(run).rows;
    out.matrix.columns = 4 * tiling_of(run).columns;
    out.matrix.memory = T3_UNCACHED;
    tell(t3_init(&gpu, hal));
    tell(t3_matrix_malloc(&gpu, &out.matrix));
  }
  void tell(t3_status status) { answers[hal->gpu].push_back(status); }
  void map() { tell(t3_dma_map(&gpu, &out, {0, 16}, 0, T3_NOTIFY, {1, 1, T3_UPDATE})); }
  void multiply(std::uint32_t k, const t3_gemm_options& options = {}) {
    t3_matrix a = out.matrix, b = out.matrix;
    a.columns = b.rows = k;
    tell(t3_matrix_malloc(&gpu, &a));
    tell(t3_matrix_malloc(&gpu, &b));
    tell(t3_gemm(&gpu, &out, &a, &b, options));
  }
};

}  // namespace t3vp::test
