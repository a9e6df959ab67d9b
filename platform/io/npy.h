// NumPy's array files, version 1.0, in C order: fp16 as <f2, fp32 as <f4, bf16 (which NumPy lacks) as its bits, <u2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "protocol/access.h"

namespace t3vp {

/// Fills `target` with the packed elements of one row.
using RowSource = std::function<void(std::size_t row, unsigned char* target)>;

/// A 2-D array in memory, rows `row_stride` bytes apart.
struct ArrayView {
  const unsigned char* data = nullptr;
  std::size_t rows = 0, columns = 0, row_stride = 0;
  ElementType element = ElementType::fp16;
};

/// Both replace the file in one step and throw std::runtime_error when they cannot.
void write_npy(const std::filesystem::path& file, std::size_t rows, std::size_t columns, ElementType element,
               const RowSource& source);
void write_npy(const std::filesystem::path& file, const ArrayView& view);

struct NpyArray {
  std::vector<std::size_t> shape;
  ElementType element = ElementType::fp16;
  std::vector<unsigned char> data;  ///< packed, little-endian
};

/// Reads what write_npy writes, and any other C-order array of <f2, <u2 or <f4. Throws std::runtime_error.
NpyArray read_npy(const std::filesystem::path& file);

}  // namespace t3vp
