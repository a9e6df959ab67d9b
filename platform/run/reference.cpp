#include "run/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/npy.h"
#include "run/buffer_access.h"
#include "workload/operands.h"

namespace t3vp {
namespace {

const PublishedBuffer* find(const Gpu& gpu, const std::string& name) {
  for (const PublishedBuffer& buffer : gpu.processor.buffers())
    if (buffer.name == name) return &buffer;
  return nullptr;
}

/// Memory holds anything before it is written, for instance what is no number in any element type.
void spoil(Gpu& gpu, const PublishedBuffer& buffer) {
  std::vector<unsigned char> row(std::size_t{buffer.columns} * bytes_of(buffer.element), 0xFF);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) transfer(gpu, tlm::TLM_WRITE_COMMAND, buffer, i, row.data());
}

}  // namespace

void Reference::fill(Gpu& gpu, const PublishedBuffer& buffer) const {
  if (buffer.name == "out") return spoil(gpu, buffer);
  if (buffer.name != "a" && buffer.name != "b") return;
  const std::uint32_t number = gpu.processor.gpu();
  const GemmProblem problem = gemm_problem(configuration_);
  const FloatMatrix values = buffer.name == "a" ? operand_a(problem, number) : operand_b(problem, number);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) write_row(gpu, buffer, i, &values(i, 0));
}

FunctionalCheck Reference::check(Node& node) const {
  FunctionalCheck result;
  const FloatMatrix expected = expected_output(gemm_problem(configuration_));
  std::vector<float> found(configuration_.workload.gemm.n);
  for (const auto& gpu : node.gpus()) {
    const PublishedBuffer* out = find(*gpu, "out");
    if (out == nullptr) return {};
    for (std::uint32_t row = 0; row < out->rows; ++row) {
      read_row(*gpu, *out, row, found.data());
      for (std::uint32_t column = 0; column < out->columns; ++column)
        if (!(found[column] == expected(row, column)))
          result.note({"out", gpu->processor.gpu(), row, column, found[column], expected(row, column)});
      result.elements += out->columns;
    }
  }
  result.checked = true;
  return result;
}

void Reference::dump(Node& node, const std::filesystem::path& out) const {
  for (const auto& gpu : node.gpus())
    for (const PublishedBuffer& buffer : gpu->processor.buffers()) {
      const bool transpose = buffer.name == "b" && configuration_.workload.gemm.transpose_b;
      const std::uint32_t bytes = bytes_of(buffer.element);
      std::vector<unsigned char> all(std::size_t{buffer.rows} * buffer.columns * bytes);
      for (std::uint32_t i = 0; i < buffer.rows; ++i)
        transfer(*gpu, tlm::TLM_READ_COMMAND, buffer, i, all.data() + std::size_t{i} * buffer.columns * bytes);
      const auto file = out / fmt::format("gpu{}.{}.npy", gpu->processor.gpu(), buffer.name);
      const std::uint32_t rows = transpose ? buffer.columns : buffer.rows;
      const std::uint32_t columns = transpose ? buffer.rows : buffer.columns;
      write_npy(file, rows, columns, buffer.element, [&](std::size_t row, unsigned char* target) {
        for (std::size_t j = 0; j < columns; ++j) {
          const std::size_t from = transpose ? j * buffer.columns + row : row * buffer.columns + j;
          std::copy_n(all.data() + from * bytes, bytes, target + j * bytes);
        }
      });
    }
}

}  // namespace t3vp
