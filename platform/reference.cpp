#include "platform/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "platform/buffer_access.h"
#include "platform/npy.h"

namespace t3vp {
namespace {

const PublishedBuffer* find(const Gpu& gpu, const std::string& name) {
  for (const PublishedBuffer& buffer : gpu.processor.buffers())
    if (buffer.name == name) return &buffer;
  return nullptr;
}

}  // namespace

void Reference::fill(Gpu& gpu, const PublishedBuffer& buffer) const {
  if (buffer.name != "a" && buffer.name != "b") return;
  std::seed_seq seeds{static_cast<std::uint32_t>(configuration_.seed),
                      static_cast<std::uint32_t>(configuration_.seed >> 32), std::uint32_t{gpu.processor.gpu()},
                      static_cast<std::uint32_t>(buffer.name[0])};
  fill_randomly(gpu, buffer, seeds);
}

FunctionalCheck Reference::check(Node& node) const {
  FunctionalCheck result;
  const GemmShape& shape = configuration_.workload.gemm;
  Matrix expected = Matrix::Zero(shape.m, shape.n), magnitude = Matrix::Zero(shape.m, shape.n);
  for (const auto& gpu : node.gpus()) {
    const PublishedBuffer *a = find(*gpu, "a"), *b = find(*gpu, "b");
    if (a == nullptr || b == nullptr || find(*gpu, "out") == nullptr) return result;
    const Matrix left = read(*gpu, *a);
    const Matrix right = shape.transpose_b ? Matrix(read(*gpu, *b).transpose()) : read(*gpu, *b);
    expected.noalias() += left * right;
    magnitude.noalias() += left.cwiseAbs() * right.cwiseAbs();
  }
  const double roundings =
      static_cast<double>(node.gpus().size()) + 1 + (shape.element == ElementType::fp32 ? shape.k : 0);
  result.checked = true;
  for (const auto& gpu : node.gpus()) {
    const Matrix error = (read(*gpu, *find(*gpu, "out")) - expected).cwiseAbs();
    const auto allowed = roundings * half_unit(shape.element) * magnitude.array();
    result.elements += static_cast<std::uint64_t>(error.size());
    result.mismatches += static_cast<std::uint64_t>(error.size() - (error.array() <= allowed).count());
    result.max_abs_error = std::max(result.max_abs_error, error.maxCoeff());
  }
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
