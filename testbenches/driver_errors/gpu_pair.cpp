#include "driver_errors/gpu_pair.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <catch2/catch.hpp>

#include "guests/native_hal.h"
#include "kernels/kernels.h"
#include "run/node_parameters.h"
#include "workloads/gemm_arguments.h"

namespace t3vp::test {
namespace {

constexpr std::uint32_t m = 200, n = 136, k = 48;

RunConfiguration pair_of(std::vector<std::string> settings) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  settings.insert(settings.begin(), {"system=" + configs + "systems/small-4.json", "gpus=2", "method=t3",
                                     fmt::format("workload.gemm.m={}", m), fmt::format("workload.gemm.n={}", n),
                                     fmt::format("workload.gemm.k={}", k)});
  return load_run(configs + "runs/gemm-rs-4gpu.json", settings);
}

/// Small integers, whose products and sums are exact in fp16.
int element(std::size_t gpu, char name, std::uint32_t row, std::uint32_t column) {
  return static_cast<int>((row * 7 + column * (name == 'a' ? 3 : 5) + gpu) % 5) - 2;
}

int exact(std::size_t gpus, std::uint32_t row, std::uint32_t column) {
  int sum = 0;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu)
    for (std::uint32_t i = 0; i < k; ++i) sum += element(gpu, 'a', row, i) * element(gpu, 'b', i, column);
  return sum;
}

void transfer(Gpu& gpu, tlm::tlm_command command, std::uint64_t address, std::vector<Eigen::half>& row) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(row.data()));
  payload.set_data_length(static_cast<unsigned>(row.size() * sizeof(Eigen::half)));
  REQUIRE(gpu.processor.socket->transport_dbg(payload) == payload.get_data_length());
}

}  // namespace

Lines lines(const std::vector<Told>& told) {
  Lines lines;
  for (const Told& line : told) lines.push_back(std::string(line.what) + ": " + t3_status_text(line.status));
  return lines;
}

GpuPair::GpuPair(t3_program* guest, const std::vector<std::string>& settings, t3_program* other)
    : configuration_(pair_of(settings)), node_("node", node_parameters(configuration_), t3_kernels, nullptr) {
  gpu(0).native().run(native_program(guest, given()));
  for (std::size_t g = 1; g < node_.gpus().size(); ++g) gpu(g).native().run(native_program(other, given()));
  gpu(0).processor.on_log([this](const std::string& line) { told_.push_back(line); });
  for (std::size_t g = 0; g < node_.gpus().size(); ++g)
    gpu(g).processor.on_publish([this, g](const processor::PublishedBuffer& buffer) { fill(gpu(g), buffer); });
}

t3_gemm_workload GpuPair::gemm() const {
  const compute::ComputeParameters& compute = configuration_.system.compute;
  t3_gemm_workload w{};
  w.m = m;
  w.n = n;
  w.k = k;
  w.element = T3_FP16;
  w.tile_rows = compute.tile_rows;
  w.tile_columns = compute.tile_columns;
  w.wavefronts = compute.wavefronts;
  w.updates = 2;
  w.block_tiles = 1;
  w.zero_output = true;
  return w;
}

ProgramRun GpuPair::given() const {
  ProgramRun run;
  run.workload = packed(gemm());
  return run;
}

void GpuPair::run() { sc_core::sc_start(); }

void GpuPair::fill(Gpu& gpu, const processor::PublishedBuffer& buffer) {
  if (buffer.name == "out") return;
  std::vector<Eigen::half> row(buffer.columns);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) {
    for (std::uint32_t j = 0; j < buffer.columns; ++j)
      row[j] = Eigen::half(static_cast<float>(element(gpu.processor.gpu(), buffer.name[0], i, j)));
    transfer(gpu, tlm::TLM_WRITE_COMMAND, buffer.address + i * buffer.row_stride, row);
  }
}

std::vector<float> GpuPair::output(Gpu& gpu) {
  const processor::PublishedBuffer& buffer = gpu.processor.buffers().back();
  REQUIRE(buffer.name == "out");
  std::vector<Eigen::half> row(buffer.columns);
  std::vector<float> all;
  for (std::uint32_t i = 0; i < buffer.rows; ++i) {
    transfer(gpu, tlm::TLM_READ_COMMAND, buffer.address + i * buffer.row_stride, row);
    for (const Eigen::half value : row) all.push_back(static_cast<float>(value));
  }
  return all;
}

Lines GpuPair::logged(std::size_t gpu) const {
  Lines texts;
  for (const processor::ErrorLog::Entry& entry : node_.gpus()[gpu]->error_log.records())
    texts.push_back(entry.record.text);
  return texts;
}

std::size_t GpuPair::wrong_elements(std::size_t g) {
  const std::vector<float> out = output(gpu(g));
  REQUIRE(out.size() == std::size_t{m} * n);
  std::size_t wrong = 0;
  for (std::uint32_t i = 0; i < m; ++i)
    for (std::uint32_t j = 0; j < n; ++j)
      if (out[std::size_t{i} * n + j] != static_cast<float>(exact(node_.gpus().size(), i, j))) ++wrong;
  return wrong;
}

void GpuPair::require_right_result() {
  for (std::size_t g = 0; g < node_.gpus().size(); ++g) {
    CAPTURE(g, diagnosis(), logged(g));
    REQUIRE(gpu(g).processor.finished());
    REQUIRE(gpu(g).processor.status() == Status::ok);
    REQUIRE(wrong_elements(g) == 0);
  }
}

}  // namespace t3vp::test
