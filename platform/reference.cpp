#include "platform/reference.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <random>

#include "platform/npy.h"
#include "protocol/element.h"

namespace t3vp {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One row of a buffer by debug transport through the control bus, which takes no time.
void transfer(Gpu& gpu, tlm::tlm_command command, const PublishedBuffer& buffer, std::uint32_t row,
              unsigned char* data) {
  const unsigned bytes = buffer.columns * bytes_of(buffer.element);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(buffer.address + row * buffer.row_stride);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  gpu.processor.socket->transport_dbg(payload);
}

const PublishedBuffer* find(const Gpu& gpu, const std::string& name) {
  for (const PublishedBuffer& buffer : gpu.processor.buffers())
    if (buffer.name == name) return &buffer;
  return nullptr;
}

Matrix read(Gpu& gpu, const PublishedBuffer& buffer) {
  Matrix matrix(buffer.rows, buffer.columns);
  std::vector<unsigned char> row(std::size_t{buffer.columns} * bytes_of(buffer.element));
  std::vector<float> wide(buffer.columns);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) {
    transfer(gpu, tlm::TLM_READ_COMMAND, buffer, i, row.data());
    widen_elements(buffer.element, row.data(), wide.data(), buffer.columns);
    for (std::uint32_t j = 0; j < buffer.columns; ++j) matrix(i, j) = wide[j];
  }
  return matrix;
}

double half_unit(ElementType element) {
  switch (element) {
    case ElementType::fp16:
      return std::ldexp(1.0, -11);
    case ElementType::bf16:
      return std::ldexp(1.0, -8);
    case ElementType::fp32:
      break;
  }
  return std::ldexp(1.0, -24);
}

}  // namespace

void Reference::fill(Gpu& gpu, const PublishedBuffer& buffer) const {
  if (buffer.name != "a" && buffer.name != "b") return;
  std::seed_seq seeds{static_cast<std::uint32_t>(configuration_.seed),
                      static_cast<std::uint32_t>(configuration_.seed >> 32), std::uint32_t{gpu.processor.gpu()},
                      static_cast<std::uint32_t>(buffer.name[0])};
  std::mt19937_64 random(seeds);
  std::vector<float> values(buffer.columns);
  std::vector<unsigned char> row(std::size_t{buffer.columns} * bytes_of(buffer.element));
  for (std::uint32_t i = 0; i < buffer.rows; ++i) {
    // Drawn from the bits, since the standard's distributions differ between libraries.
    for (float& value : values) value = std::ldexp(static_cast<float>(random() >> 40), -23) - 1.0f;
    narrow_elements(buffer.element, values.data(), row.data(), buffer.columns);
    transfer(gpu, tlm::TLM_WRITE_COMMAND, buffer, i, row.data());
  }
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
