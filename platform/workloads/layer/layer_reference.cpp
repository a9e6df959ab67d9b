#include "workloads/layer/layer_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "protocol/element.h"

namespace t3vp {
namespace {

std::uint32_t count_of(const t3_layer_operation& operation) {
  return operation.kernel == T3_LAYER_ROWS ? 1 : std::max(operation.batch.matrices, 1u);
}

}  // namespace

/// Fills the tensor with values in [-1, 1] that depend on the seed alone; second moments are not negative.
void LayerReference::fill(const PublishedTensor& tensor) {
  const float least = tensor.name == "squares" ? 0.0f : -1.0f;
  std::seed_seq seeds{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32),
                      static_cast<std::uint32_t>(tensors_.size())};
  std::mt19937_64 random(seeds);
  std::vector<float> values(tensor.columns);
  std::vector<unsigned char> bytes(std::size_t{tensor.columns} * bytes_of(tensor.element));
  for (std::uint32_t row = 0; row < tensor.rows; ++row) {
    // Drawn from the bits, since the standard's distributions differ between libraries.
    for (float& value : values) value = std::ldexp(static_cast<float>(random() >> 40), -24) * (1 - least) + least;
    narrow_elements(tensor.element, values.data(), bytes.data(), tensor.columns);
    memory_.write(tensor, row, bytes.data());
  }
}

void LayerReference::publish(const PublishedTensor& tensor) {
  fill(tensor);
  tensors_.push_back(tensor);
  std::vector<unsigned char>& content = contents_.emplace_back(tensor.row_stride);
  memory_.read(tensor, 0, content.data(), GpuMemory::SeenBy::memory);
}

void LayerReference::take(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) {
  const t3_matrix& m = operand.matrix;
  const std::uint64_t offset = m.address + std::uint64_t{matrix} * stride;
  const std::uint64_t address = tensors_.at(operand.tensor).address + offset;
  const PublishedTensor written{"", address, m.row_stride, m.rows, m.columns, static_cast<ElementType>(m.element)};
  for (std::uint32_t row = 0; row < m.rows; ++row)
    memory_.read(written, row, &contents_[operand.tensor][offset + row * m.row_stride],
                 GpuMemory::SeenBy::compute_units);
}

Matrix LayerReference::content(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) const {
  if (!operand.used) return {};
  const t3_matrix& m = operand.matrix;
  const std::uint64_t offset = m.address + std::uint64_t{matrix} * stride;
  Matrix values(m.rows, m.columns);
  std::vector<float> wide(m.columns);
  for (std::uint32_t i = 0; i < m.rows; ++i) {
    const unsigned char* row = &contents_.at(operand.tensor)[offset + i * m.row_stride];
    widen_elements(static_cast<ElementType>(m.element), row, wide.data(), m.columns);
    for (std::uint32_t j = 0; j < m.columns; ++j) values(i, j) = wide[j];
  }
  return values;
}

FunctionalCheck LayerReference::result() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) check_memory(tensors_[i], contents_[i]);
  return result_;
}

void LayerReference::check_memory(const PublishedTensor& tensor, const std::vector<unsigned char>& content) {
  const std::uint32_t bytes = bytes_of(tensor.element);
  std::vector<unsigned char> in_memory(content.size()), seen(content.size());
  memory_.read(tensor, 0, in_memory.data(), GpuMemory::SeenBy::memory);
  if (in_memory == content) return;
  memory_.read(tensor, 0, seen.data(), GpuMemory::SeenBy::compute_units);
  for (std::uint32_t column = 0; column < tensor.columns; ++column) {
    const std::size_t at = std::size_t{column} * bytes;
    if (std::memcmp(&in_memory[at], &content[at], bytes) == 0) continue;
    float found = 0, expected = 0;
    widen_elements(tensor.element, &in_memory[at], &found, 1);
    widen_elements(tensor.element, &content[at], &expected, 1);
    const bool unflushed = std::memcmp(&seen[at], &content[at], bytes) == 0;
    const char* what = unflushed ? "not flushed from the cache" : "not as its last operation left it";
    result_.note({fmt::format("{} in memory, {}", tensor.name, what), memory_.gpu(), 0, column, found, expected});
  }
}

void LayerReference::before(std::size_t operation) {
  const t3_layer_operation& o = program_.at(operation).kernel;
  operands_.clear();
  for (std::uint32_t i = 0; i < count_of(o); ++i) {
    if (o.kernel == T3_LAYER_ATTENTION) {
      operands_.push_back({content(o.a, i, o.batch.a_stride), read_part(o, i, 1), read_part(o, i, 2), {}});
      continue;
    }
    operands_.push_back({content(o.a, i, o.batch.a_stride), content(o.b, i, o.batch.b_stride),
                         content(o.c, i, o.batch.b_stride), content(o.out, i, o.batch.out_stride)});
  }
}

/// Keys or values: they lie beside the queries.
Matrix LayerReference::read_part(const t3_layer_operation& o, std::uint32_t matrix, std::uint32_t part) const {
  t3_operand operand = o.a;
  operand.matrix.address += std::uint64_t{part} * (o.batch.a_stride / 3);
  return content(operand, matrix, o.batch.a_stride);
}

void LayerReference::after(std::size_t number) {
  const LayerOperation& operation = program_.at(number);
  result_.checked = true;
  const t3_layer_operation& o = operation.kernel;
  for (std::uint32_t i = 0; i < count_of(o); ++i) {
    const Operands& in = operands_[i];
    if (o.kernel == T3_LAYER_ROWS && o.rows == T3_ROWS_ADAM) {
      take(o.b, i, o.batch.out_stride);
      take(o.c, i, o.batch.out_stride);
    }
    take(o.out, i, o.batch.out_stride);
    const auto check = [&](const t3_operand& operand, const Expected& expected) {
      compare(operation.name, operand, i, o.batch.out_stride, expected);
    };
    if (o.kernel == T3_LAYER_ATTENTION) {
      const std::uint32_t blocks = (o.out.matrix.rows - 1) / o.tiling.columns + 1;
      check(o.out, expected_attention(static_cast<double>(o.options.factor), blocks, in.a, in.b, in.c));
    } else if (o.kernel == T3_LAYER_GEMM) {
      check(o.out, expected_product(o.transpose_a ? Matrix(in.a.transpose()) : in.a,
                                    o.transpose_b ? Matrix(in.b.transpose()) : in.b));
    } else if (o.rows == T3_ROWS_ADAM) {
      const ExpectedAdam expected = expected_adam(o.options.factor, in.a, in.b, in.c, in.out);
      check(o.b, expected.mean);
      check(o.c, expected.square);
      check(o.out, expected.parameters);
    } else {
      check(o.out, expected_rows(o.rows, o.options, in.a, in.b, in.c));
    }
  }
}

void LayerReference::compare(const std::string& operation, const t3_operand& operand, std::uint32_t matrix,
                             std::uint32_t stride, const Expected& expected) {
  const Array found = content(operand, matrix, stride).array();
  const Array allowed = allowed_error(static_cast<ElementType>(operand.matrix.element), expected);
  result_.elements += static_cast<std::uint64_t>(found.size());
  for (Eigen::Index row = 0; row < found.rows(); ++row)
    for (Eigen::Index column = 0; column < found.cols(); ++column) {
      const double error = std::abs(found(row, column) - expected.value(row, column));
      result_.note_error(error);
      if (error <= allowed(row, column)) continue;  // what is no number is not
      const std::string which = stride == 0 ? "" : fmt::format(" (matrix {})", matrix);
      result_.note({fmt::format("{} of operation {}{}", tensors_[operand.tensor].name, operation, which), memory_.gpu(),
                    static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column), found(row, column),
                    expected.value(row, column)});
    }
}

}  // namespace t3vp
