// A buffer of a program of the platform's: the only list of them is Workload::buffers().
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "protocol/access.h"

namespace t3vp {

struct Buffer {
  std::string name;
  std::uint64_t bytes = 0;  ///< that the program allocates, the same on all GPUs

  /// The part that the program publishes on this GPU, in elements; 0 rows: nothing.
  std::uint32_t rows = 0, columns = 0;
  ElementType element = ElementType::fp16;

  /// One row of values.
  using Row = std::function<std::vector<double>(std::uint32_t row)>;
  Row fill = {};       ///< what it holds before the program begins; empty: anything, which is no number
  Row expected = {};   ///< the values expected at the end of the run, as the element type holds them; empty: the buffer
                       ///< is not checked
  Row tolerance = {};  ///< by which an element may differ; empty: by nothing
  /// Whether the GPU has this element in the end; empty: it has all.
  std::function<bool(std::uint32_t row, std::uint32_t column)> is_owned = {};
  bool is_transposed = false;  ///< an array of it is written with rows for columns

  bool is_published() const { return rows != 0; }
};

/// A matrix whose rows begin at multiples of 32 bytes, as the driver allocates it.
std::uint64_t matrix_bytes(std::uint64_t rows, std::uint64_t columns, ElementType element);

/// Returns the values as the element type holds them.
std::vector<double> rounded(const std::vector<float>& values, ElementType element);
std::vector<double> widened(const std::vector<float>& values);

/// Published buffers of a GPU, by name; null when there is none.
const Buffer* find(const std::vector<Buffer>& buffers, const std::string& name);

/// The end of the driver's heap when a program has allocated them: one piece after the other, behind the first page.
std::uint64_t heap_bytes(const std::vector<Buffer>& buffers);

}  // namespace t3vp
