#include "io/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string>

#include "io/output_file.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

constexpr char magic[] = "\x93NUMPY\x01";   // followed by the minor version, 0
constexpr std::size_t preamble_bytes = 10;  // magic, versions, length of the header
constexpr std::size_t alignment = 64;

const char* descriptor(ElementType element) {
  return element == ElementType::fp32 ? "<f4" : element == ElementType::bf16 ? "<u2" : "<f2";
}

std::string header_of(std::size_t rows, std::size_t columns, ElementType element) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", descriptor(element), rows, columns);
  const std::size_t unpadded = preamble_bytes + dictionary.size() + 1;
  dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
  dictionary += '\n';
  std::string header(magic, 7);
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

ElementType element_described(const std::string& text) {
  if (text == "<f2") return ElementType::fp16;
  if (text == "<u2") return ElementType::bf16;
  if (text == "<f4") return ElementType::fp32;
  throw std::runtime_error("element type " + text + " is not <f2, <u2 or <f4");
}

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t elements = 1;
  for (const std::size_t extent : shape) elements *= extent;
  return elements;
}

NpyArray parse_header(const std::string& dictionary) {
  static const std::regex form(
      R"(\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n)");
  std::smatch match;
  if (!std::regex_match(dictionary, match, form)) throw std::runtime_error("its header cannot be read");
  if (match[2] == "True") throw std::runtime_error("it is in Fortran order");
  NpyArray array;
  array.element = element_described(match[1]);
  static const std::regex number("[0-9]+");
  const std::string shape = match[3];
  for (std::sregex_iterator it(shape.begin(), shape.end(), number), end; it != end; ++it)
    array.shape.push_back(std::stoul(it->str()));
  return array;
}

NpyArray parse(const std::string& bytes) {
  if (bytes.size() < preamble_bytes || std::memcmp(bytes.data(), magic, 7) != 0)
    throw std::runtime_error("it is no .npy file of version 1");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t header_bytes = byte(8) + 256u * byte(9);
  if (bytes.size() < preamble_bytes + header_bytes) throw std::runtime_error("it is cut short");
  NpyArray array = parse_header(bytes.substr(preamble_bytes, header_bytes));
  array.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(preamble_bytes + header_bytes), bytes.end());
  if (array.data.size() != product(array.shape) * bytes_of(array.element))
    throw std::runtime_error("its data does not have the size that its shape says");
  return array;
}

}  // namespace

void write_npy(const fs::path& file, std::size_t rows, std::size_t columns, ElementType element,
               const RowSource& source) {
  OutputFile output(file);
  std::ostream& out = output.stream();
  out << header_of(rows, columns, element);
  std::vector<unsigned char> row(columns * bytes_of(element));
  for (std::size_t r = 0; r < rows && out; ++r) {
    source(r, row.data());
    out.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(row.size()));
  }
  output.complete();
}

void write_npy(const fs::path& file, const ArrayView& view) {
  write_npy(file, view.rows, view.columns, view.element, [&view](std::size_t row, unsigned char* target) {
    std::memcpy(target, view.data + row * view.row_stride, view.columns * bytes_of(view.element));
  });
}

NpyArray read_npy(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + ": it cannot be read");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  try {
    return parse(bytes);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(file.string() + ": " + error.what());
  }
}

}  // namespace t3vp
