#include "check/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "check/buffer_access.h"
#include "compute/fenced_memory.h"
#include "protocol/address_map.h"
#include "protocol/element.h"
#include "report/npy.h"
#include "workload/collective.h"
#include "workload/embedding.h"
#include "workload/experts.h"
#include "workload/gemv.h"
#include "workload/operands.h"

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

/// As device calls access them.
bool is_aligned(const processor::PublishedBuffer& buffer) {
  const std::uint64_t bytes = bytes_of(buffer.element);
  return buffer.address % bytes == 0 && (buffer.rows <= 1 || buffer.row_stride % bytes == 0);
}

/// Memory holds anything before it is written, for instance what is no number in any element type.
void spoil(Gpu& gpu, const processor::PublishedBuffer& buffer) {
  std::vector<unsigned char> row(std::size_t{buffer.columns} * bytes_of(buffer.element), 0xFF);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) transfer(gpu, tlm::TLM_WRITE_COMMAND, buffer, i, row.data());
}

/// What is no number is like any other that is none.
bool is_as_expected(double found, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected || std::abs(found - expected) <= tolerance;
}

/// Who uses some of the buffer's elements just now, in words; empty when nobody does.
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

/// As the element type holds them.
std::vector<float> rounded(std::vector<float> values, ElementType element) {
  std::vector<unsigned char> bytes(values.size() * bytes_of(element));
  narrow_elements(element, values.data(), bytes.data(), values.size());
  widen_elements(element, bytes.data(), values.data(), values.size());
  return values;
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

bool Reference::is_of_workload(const std::string& name) const {
  if (configuration_.workload.collective) return name == "in" || name == "out";
  if (configuration_.workload.embedding) return name == "tables" || name == "out";
  if (configuration_.workload.gemv) return name == "matrix" || name == "vector" || name == "out";
  return configuration_.workload.has_gemm() && (name == "a" || name == "b" || name == "out");
}

/// When it is published.
bool Reference::is_written(const processor::PublishedBuffer& buffer) const {
  return buffer.initial || is_of_workload(buffer.name);
}

/// The name of an earlier buffer whose contents it would replace; empty when there is none.
std::string Reference::overwritten_by(const Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  for (const auto& [of, earlier] : with_contents_)
    if (of == &gpu && is_written(buffer) && overlap(buffer, earlier)) return earlier.name;
  return {};
}

std::string Reference::expected_shape(std::uint32_t gpu, const std::string& name) const {
  const GemmShape& gemm = configuration_.workload.gemm;
  if (const auto& collective = configuration_.workload.collective) {
    const std::uint64_t elements =
        name == "in" ? collective->elements : t3_received_elements(&*collective, gpu, configuration_.gpus);
    return text_of(1, static_cast<std::uint32_t>(elements), gemm.element);
  }
  if (const auto& e = configuration_.workload.embedding)
    return name == "tables" ? text_of(e->tables_per_gpu * e->rows, e->dimension, gemm.element)
                            : text_of(t3_embedding_samples(&*e, gpu, configuration_.gpus),
                                      configuration_.gpus * e->tables_per_gpu * e->dimension, gemm.element);
  if (const auto& g = configuration_.workload.gemv)
    return name == "matrix" ? text_of(g->rows, g->columns, gemm.element)
                            : text_of(1, name == "vector" ? g->columns : g->rows, gemm.element);
  if (name == "a") return text_of(gemm.m, gemm.k, gemm.element);
  if (const auto& e = configuration_.workload.experts; e && name == "out")
    return text_of(t3_experts_tokens(&*e, gpu, configuration_.gpus) * configuration_.gpus, gemm.n, gemm.element);
  if (name == "out")
    return text_of(gemm.m * t3_fused_slabs(configuration_.workload.fused, configuration_.gpus), gemm.n, gemm.element);
  return text_of(gemm.transpose_b ? gemm.n : gemm.k, gemm.transpose_b ? gemm.k : gemm.n, gemm.element);
}

/// What is wrong with what the program says of the contents: "found ..., expected ..."; empty when nothing is.
std::string Reference::refused_contents(const processor::PublishedBuffer& buffer) const {
  if (!(buffer.tolerance >= 0)) return fmt::format("found a tolerance of {}, expected 0 or more", buffer.tolerance);
  if (is_of_workload(buffer.name) && (buffer.initial || buffer.expected))
    return "found contents of the program's, expected the workload's, which has a buffer of that name";
  return {};
}

std::string Reference::refusal(const Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  const std::string who = text_of_publisher(gpu, buffer);
  const std::string found = text_of(buffer.rows, buffer.columns, buffer.element);
  if (is_of_workload(buffer.name)) {
    const std::string expected = expected_shape(gpu.processor.gpu(), buffer.name);
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
  if (const std::string contents = refused_contents(buffer); !contents.empty()) return who + contents;
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
  if (is_written(buffer) || buffer.expected) {
    with_contents_.emplace_back(&gpu, buffer);
    with_contents_.back().second.initial = with_contents_.back().second.expected = nullptr;
  }
  if (!configuration_.functional) return {};
  if (is_of_workload(buffer.name)) {
    fill(gpu, buffer);
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

void Reference::fill(Gpu& gpu, const processor::PublishedBuffer& buffer) const {
  const std::uint32_t number = gpu.processor.gpu();
  const auto& collective = configuration_.workload.collective;
  if (collective && (collective->op != T3_ALL_TO_ALL || buffer.name == "in"))
    return write_row(gpu, buffer, 0,
                     CollectiveOracle(*collective, configuration_.gpus, configuration_.seed).sent(number).data());
  if (buffer.name == "out") return spoil(gpu, buffer);
  if (const auto& e = configuration_.workload.embedding) {
    const EmbeddingOracle oracle(*e, configuration_.gpus);
    for (std::uint32_t i = 0; i < buffer.rows; ++i)
      write_row(gpu, buffer, i, oracle.table_row(number, i / e->rows, i % e->rows).data());
    return;
  }
  if (const auto& g = configuration_.workload.gemv) {
    const GemvOracle oracle(*g, configuration_.gpus, configuration_.seed);
    for (std::uint32_t i = 0; i < buffer.rows; ++i)
      write_row(gpu, buffer, i,
                (buffer.name == "matrix" ? oracle.matrix_row(number, i) : oracle.vector(number)).data());
    return;
  }
  const GemmProblem problem = gemm_problem(configuration_);
  const compute::FloatMatrix values = buffer.name == "a" ? operand_a(problem, number) : operand_b(problem, number);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) write_row(gpu, buffer, i, &values(i, 0));
}

FunctionalCheck Reference::check(Node& node) const {
  FunctionalCheck result;
  if (configuration_.workload.is_of_several())
    check_received(node, result);
  else if (configuration_.workload.has_gemm())
    check_output(node, result);
  if (configuration_.workload.dlrm) check_tables(node, result);
  for (const auto& gpu : node.gpus())
    for (const Expectation& expectation : expectations_)
      if (expectation.gpu == gpu.get()) check_expectation(expectation, result);
  return result;
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

/// Nothing is checked when a program has not published its output.
void Reference::check_output(Node& node, FunctionalCheck& result) const {
  for (const auto& gpu : node.gpus())
    if (find(*gpu, "out") == nullptr) return;
  const GemmProblem problem = gemm_problem(configuration_);
  const bool exchanged = configuration_.workload.fused == T3_FUSED_ALL_TO_ALL;
  compute::FloatMatrix expected;
  if (!exchanged) expected = expected_output(problem);
  std::vector<float> found(problem.gemm.n);
  for (const auto& gpu : node.gpus()) {
    const processor::PublishedBuffer& out = *find(*gpu, "out");
    if (exchanged) expected = expected_slabs(problem, gpu->processor.gpu());
    for (std::uint32_t row = 0; row < out.rows; ++row) {
      read_row(*gpu, out, row, found.data());
      for (std::uint32_t column = 0; column < out.columns; ++column) {
        if (!owns(configuration_, gpu->processor.gpu(), row, column)) continue;
        ++result.elements;
        if (!is_as_expected(found[column], expected(row, column), 0))
          result.note({"out", gpu->processor.gpu(), row, column, found[column], expected(row, column)});
      }
    }
  }
  result.checked = true;
}

/// Nothing is checked when a program has not published its output.
void Reference::check_received(Node& node, FunctionalCheck& result) const {
  for (const auto& gpu : node.gpus())
    if (find(*gpu, "out") == nullptr) return;
  for (const auto& gpu : node.gpus()) {
    const processor::PublishedBuffer& out = *find(*gpu, "out");
    const std::function<std::vector<float>(std::uint32_t)> row_of = expected_rows(gpu->processor.gpu());
    std::vector<float> found(out.columns);
    for (std::uint32_t row = 0; row < out.rows; ++row) {
      const std::vector<float> expected = rounded(row_of(row), out.element);
      read_row(*gpu, out, row, found.data());
      for (std::uint32_t i = 0; i < out.columns; ++i)
        if (!(found[i] == expected[i])) result.note({"out", gpu->processor.gpu(), row, i, found[i], expected[i]});
    }
    result.elements += std::uint64_t{out.rows} * out.columns;
  }
  result.checked = true;
}

/// What a training pass has made of them. Nothing is checked when a program has not published its tables.
void Reference::check_tables(Node& node, FunctionalCheck& result) const {
  const t3_embedding& e = *configuration_.workload.embedding;
  const EmbeddingOracle oracle(e, configuration_.gpus);
  std::vector<float> found(e.dimension);
  for (const auto& gpu : node.gpus()) {
    const processor::PublishedBuffer* const tables = find(*gpu, "tables");
    if (tables == nullptr) return;
    const std::uint32_t number = gpu->processor.gpu();
    for (std::uint32_t table = 0; table < e.tables_per_gpu; ++table) {
      const EmbeddingOracle::Table expected = oracle.updated_table(number, table);
      for (std::uint32_t i = 0; i < e.rows; ++i) {
        const std::uint32_t row = table * e.rows + i;
        read_row(*gpu, *tables, row, found.data());
        for (std::uint32_t column = 0; column < e.dimension; ++column) {
          const std::size_t place = std::size_t{i} * e.dimension + column;
          if (!is_as_expected(found[column], expected.values[place], expected.tolerances[place]))
            result.note({"tables", number, row, column, found[column], expected.values[place]});
        }
      }
    }
    result.elements += std::uint64_t{tables->rows} * tables->columns;
  }
}

std::function<std::vector<float>(std::uint32_t)> Reference::expected_rows(std::uint32_t gpu) const {
  const Workload& workload = configuration_.workload;
  const std::uint32_t gpus = configuration_.gpus;
  const std::uint64_t seed = configuration_.seed;
  if (workload.embedding)
    return [oracle = EmbeddingOracle(*workload.embedding, gpus), gpu](std::uint32_t row) {
      return oracle.received(gpu, row);
    };
  if (workload.experts)
    return [oracle = ExpertsOracle(gemm_problem(configuration_)), gpu](std::uint32_t row) {
      return oracle.received(gpu, row);
    };
  if (workload.gemv) return [oracle = GemvOracle(*workload.gemv, gpus, seed)](std::uint32_t) { return oracle.sums(); };
  return [oracle = CollectiveOracle(*workload.collective, gpus, seed), gpu](std::uint32_t) {
    return oracle.received(gpu);
  };
}

void Reference::dump(Node& node, const std::filesystem::path& out) const {
  for (const auto& gpu : node.gpus())
    for (const processor::PublishedBuffer& buffer : gpu->processor.buffers()) {
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
