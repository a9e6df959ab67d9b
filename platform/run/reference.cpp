#include "run/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/fenced_memory.h"
#include "io/npy.h"
#include "protocol/address_map.h"
#include "protocol/element.h"
#include "run/buffer_access.h"

namespace t3vp {
namespace {

const processor::PublishedBuffer* find(const Gpu& gpu, const std::string& name) {
  for (const processor::PublishedBuffer& buffer : gpu.processor.buffers())
    if (buffer.name == name) return &buffer;
  return nullptr;
}

std::string text_of(std::uint32_t rows, std::uint32_t columns, ElementType element) {
  constexpr std::array names{"fp16", "bf16", "fp32"};
  const auto number = static_cast<std::size_t>(element);
  return fmt::format("{} x {} elements of {}", rows, columns,
                     number < names.size() ? names[number] : fmt::format("type {}", number));
}

/// Whether all rows are in the GPU's memory, none in another one.
bool is_in_memory(const Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint64_t capacity) {
  const std::uint64_t begin = address_map::local_of(buffer.address);
  const std::uint64_t row = std::uint64_t{buffer.columns} * bytes_of(buffer.element);
  if (address_map::gpu_of(buffer.address) != gpu.processor.gpu() || begin > capacity || row > capacity - begin)
    return false;
  if (buffer.rows <= 1) return true;
  return buffer.row_stride >= row && buffer.row_stride != 0 &&
         buffer.rows - 1 <= (capacity - begin - row) / buffer.row_stride;
}

std::string text_of_publisher(const Gpu& gpu, const processor::PublishedBuffer& buffer) {
  return fmt::format("GPU {} firmware publishes {}: ", gpu.processor.gpu(), buffer.name);
}

/// Returns whether the buffer is aligned as device calls require.
bool is_aligned(const processor::PublishedBuffer& buffer) {
  const std::uint64_t bytes = bytes_of(buffer.element);
  return buffer.address % bytes == 0 && (buffer.rows <= 1 || buffer.row_stride % bytes == 0);
}

/// Memory holds anything before it is written, for instance what is no number in any element type.
void spoil(Gpu& gpu, const processor::PublishedBuffer& buffer) {
  std::vector<unsigned char> row(std::size_t{buffer.columns} * bytes_of(buffer.element), 0xFF);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) transfer(gpu, tlm::TLM_WRITE_COMMAND, buffer, i, row.data());
}

/// Returns whether the value is as expected. All NaNs are alike.
bool is_as_expected(double found, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected || std::abs(found - expected) <= tolerance;
}

/// Returns a text that names the current user of some of the buffer's elements. It is empty when there is none.
std::string use_of(const Gpu& gpu, const processor::PublishedBuffer& buffer) {
  const std::uint64_t row = std::uint64_t{buffer.columns} * bytes_of(buffer.element);
  const auto use_of_bytes = [&gpu](std::uint64_t begin, std::uint64_t bytes) {
    std::string found = gpu.memory.use_of({begin, begin + bytes});
    return found.empty() ? gpu.dma.use_of({begin, begin + bytes}) : found;
  };
  if (buffer.row_stride == row) return use_of_bytes(buffer.address, buffer.rows * row);
  std::string found;
  for (std::uint32_t i = 0; i < buffer.rows && found.empty(); ++i)
    found = use_of_bytes(buffer.address + i * buffer.row_stride, row);
  return found;
}

/// The workload's contents, or what is no number.
void fill(Gpu& gpu, const processor::PublishedBuffer& buffer, const Buffer& own) {
  if (!own.fill) return spoil(gpu, buffer);
  for (std::uint32_t row = 0; row < buffer.rows; ++row) {
    const std::vector<double> values = own.fill(row);
    const std::vector<float> narrow(values.begin(), values.end());
    write_row(gpu, buffer, row, narrow.data());
  }
}

/// The elements that the GPU has in the end.
void check_rows(Gpu& gpu, const processor::PublishedBuffer& buffer, const Buffer& own, FunctionalCheck& result) {
  std::vector<float> found(buffer.columns);
  for (std::uint32_t row = 0; row < buffer.rows; ++row) {
    read_row(gpu, buffer, row, found.data());
    const std::vector<double> expected = own.expected(row);
    const std::vector<double> tolerance = own.tolerance ? own.tolerance(row) : std::vector<double>(found.size(), 0);
    for (std::uint32_t column = 0; column < buffer.columns; ++column) {
      if (own.is_owned && !own.is_owned(row, column)) continue;
      ++result.elements;
      if (!is_as_expected(found[column], expected[column], tolerance[column]))
        result.note({own.name, gpu.processor.gpu(), row, column, found[column], expected[column]});
    }
  }
}

/// Whether some row has a byte of this one, from `begin` on.
bool has_byte_of_row(const processor::PublishedBuffer& buffer, std::uint64_t begin, std::uint64_t bytes) {
  const std::uint64_t row = std::uint64_t{buffer.columns} * bytes_of(buffer.element);
  const std::uint64_t stride = buffer.rows > 1 ? buffer.row_stride : row;
  const std::uint64_t first = begin < buffer.address + row ? 0 : (begin - buffer.address - row) / stride + 1;
  return first < buffer.rows && buffer.address + first * stride < begin + bytes;
}

/// Matrices may lie between each other's rows.
bool overlap(const processor::PublishedBuffer& one, const processor::PublishedBuffer& other) {
  const std::uint64_t row = std::uint64_t{one.columns} * bytes_of(one.element);
  for (std::uint32_t i = 0; i < one.rows; ++i)
    if (has_byte_of_row(other, one.address + i * one.row_stride, row)) return true;
  return false;
}

/// A function has written more than the buffer has.
std::string text_of_excess(const Gpu& gpu, const processor::PublishedBuffer& buffer, const char* contents,
                           const char* where) {
  return fmt::format("{}found a function of its {} contents that writes {} them, expected {} and nothing else",
                     text_of_publisher(gpu, buffer), contents, where,
                     text_of(buffer.rows, buffer.columns, buffer.element));
}

}  // namespace

Reference::Reference(const RunConfiguration& configuration) : configuration_(configuration) {
  for (std::uint32_t gpu = 0; gpu < configuration.gpus; ++gpu)
    buffers_.push_back(configuration.workload->buffers(configuration, gpu));
}

const Buffer* Reference::of_workload(const Gpu& gpu, const std::string& name) const {
  return t3vp::find(buffers_[gpu.processor.gpu()], name);
}

/// Returns whether the buffer is written when it is published.
bool Reference::is_written(const Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  return buffer.initial || of_workload(gpu, buffer.name) != nullptr;
}

/// The name of an earlier buffer whose contents it would replace; empty when there is none.
std::string Reference::overwritten_by(const Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  for (const auto& [of, earlier] : with_contents_)
    if (of == &gpu && is_written(gpu, buffer) && overlap(buffer, earlier)) return earlier.name;
  return {};
}

/// Returns the error of the contents that the program gives: "found ..., expected ..."; empty when there is none.
std::string Reference::refused_contents(const Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  if (!(buffer.tolerance >= 0)) return fmt::format("found a tolerance of {}, expected 0 or more", buffer.tolerance);
  if (of_workload(gpu, buffer.name) != nullptr && (buffer.initial || buffer.expected))
    return "found contents of the program's, expected the workload's, which has a buffer of that name";
  return {};
}

std::string Reference::refusal(const Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  const std::string who = text_of_publisher(gpu, buffer);
  const std::string found = text_of(buffer.rows, buffer.columns, buffer.element);
  if (const Buffer* const own = of_workload(gpu, buffer.name)) {
    const std::string expected = text_of(own->rows, own->columns, own->element);
    if (expected != found) return who + fmt::format("found {}, expected {}", found, expected);
  }
  if (buffer.element > ElementType::fp32) return who + fmt::format("found {}, expected fp16, bf16 or fp32", found);
  if (buffer.rows == 0 || buffer.columns == 0) return who + fmt::format("found {}, expected one at least", found);
  const std::uint64_t capacity = configuration_.system.memory.capacity_bytes;
  if (!is_in_memory(gpu, buffer, capacity))
    return who + fmt::format(
                     "found {} at {:#x} with {} bytes from row to row, expected rows one behind the other in "
                     "the GPU's {} bytes of memory",
                     found, buffer.address, buffer.row_stride, capacity);
  if (!is_aligned(buffer))
    return who + fmt::format("found {} at {:#x} with {} bytes from row to row, expected multiples of {}", found,
                             buffer.address, buffer.row_stride, bytes_of(buffer.element));
  if (find(gpu, buffer.name) != nullptr) return who + "found a second buffer of that name, expected another name";
  if (const std::string contents = refused_contents(gpu, buffer); !contents.empty()) return who + contents;
  if (const std::string other = overwritten_by(gpu, buffer); !other.empty())
    return who + fmt::format("found contents at {:#x} in place of those of {}, expected memory of its own",
                             buffer.address, other);
  const std::string use = buffer.initial ? use_of(gpu, buffer) : "";
  if (use.empty()) return {};
  return who + fmt::format(
                   "found initial contents at {:#x}: {}, and nothing is written there before that has ended, "
                   "expected memory that nobody uses",
                   buffer.address, use);
}

std::string Reference::take(Gpu& gpu, const processor::PublishedBuffer& buffer) {
  if (is_written(gpu, buffer) || buffer.expected) {
    with_contents_.emplace_back(&gpu, buffer);
    with_contents_.back().second.initial = with_contents_.back().second.expected = nullptr;
  }
  if (!configuration_.functional) return {};
  if (const Buffer* const own = of_workload(gpu, buffer.name)) {
    fill(gpu, buffer, *own);
    return {};
  }
  const std::size_t elements = std::size_t{buffer.rows} * buffer.columns;
  std::vector<unsigned char> rounded;
  {
    compute::FencedMemory memory(elements * sizeof(float));
    auto* const values = static_cast<float*>(memory.lend(elements * sizeof(float)));
    if (buffer.initial) buffer.initial(values);
    if (const char* where = memory.written_beside()) return text_of_excess(gpu, buffer, "initial", where);
    for (std::uint32_t row = 0; buffer.initial && row < buffer.rows; ++row)
      write_row(gpu, buffer, row, values + std::size_t{row} * buffer.columns);
    if (!buffer.expected) return {};
    std::fill_n(values, elements, std::nanf(""));  // what is left out is not expected to be as it was
    buffer.expected(values);
    if (const char* where = memory.written_beside()) return text_of_excess(gpu, buffer, "expected", where);
    rounded.resize(elements * bytes_of(buffer.element));
    narrow_elements(buffer.element, values, rounded.data(), elements);
  }
  std::vector<float> values(elements);
  widen_elements(buffer.element, rounded.data(), values.data(), elements);
  expectations_.push_back({&gpu, buffer, std::move(values)});
  return {};
}

FunctionalCheck Reference::check(const std::vector<Gpu*>& gpus) const {
  FunctionalCheck result;
  for (const Buffer& buffer : buffers_.empty() ? std::vector<Buffer>() : buffers_.front())
    if (buffer.expected) check_workload(gpus, buffer.name, result);
  for (const Gpu* const gpu : gpus)
    for (const Expectation& expectation : expectations_)
      if (expectation.gpu == gpu) check_expectation(expectation, result);
  return result;
}

void Reference::check_workload(const std::vector<Gpu*>& gpus, const std::string& name, FunctionalCheck& result) const {
  for (const Gpu* const gpu : gpus)
    if (find(*gpu, name) == nullptr) return;
  for (Gpu* const gpu : gpus) check_rows(*gpu, *find(*gpu, name), *of_workload(*gpu, name), result);
  result.checked = true;
}

void Reference::check_expectation(const Expectation& e, FunctionalCheck& result) {
  std::vector<float> found(e.buffer.columns);
  for (std::uint32_t row = 0; row < e.buffer.rows; ++row) {
    read_row(*e.gpu, e.buffer, row, found.data());
    for (std::uint32_t column = 0; column < e.buffer.columns; ++column) {
      const double expected = e.values[std::size_t{row} * e.buffer.columns + column];
      if (!is_as_expected(found[column], expected, e.buffer.tolerance))
        result.note({e.buffer.name, e.gpu->processor.gpu(), row, column, found[column], expected});
    }
  }
  result.elements += std::uint64_t{e.buffer.rows} * e.buffer.columns;
  result.checked = true;
}

void Reference::dump(Node& node, const std::filesystem::path& out) const {
  for (const auto& gpu : node.gpus())
    for (const processor::PublishedBuffer& buffer : gpu->processor.buffers()) {
      const Buffer* const own = of_workload(*gpu, buffer.name);
      const bool transpose = own != nullptr && own->is_transposed;
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
