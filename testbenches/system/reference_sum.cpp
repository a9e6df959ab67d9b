#include "system/reference_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>
#include <stdexcept>

namespace t3vp::test {
namespace {

constexpr std::size_t preamble_bytes = 10;  // magic, version, length of the header

struct Format {
  const char* name;
  const char* descriptor;
  std::size_t bytes;
  double half_unit;
};

const Format& format_of(Element element) {
  static const Format formats[] = {{"fp16", "<f2", 2, std::ldexp(1.0, -11)},
                                   {"bf16", "<u2", 2, std::ldexp(1.0, -8)},
                                   {"fp32", "<f4", 4, std::ldexp(1.0, -24)}};
  return formats[static_cast<std::size_t>(element)];
}

double value_at(const char* data, Element element) {
  switch (element) {
    case Element::fp16: {
      Eigen::half value;
      std::memcpy(&value, data, sizeof value);
      return static_cast<float>(value);
    }
    case Element::bf16: {
      Eigen::bfloat16 value;
      std::memcpy(&value, data, sizeof value);
      return static_cast<float>(value);
    }
    case Element::fp32:
      break;
  }
  float value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

const char* name_of(Element element) { return format_of(element).name; }

Matrix load(const std::filesystem::path& file, Element element) {
  const std::string bytes = text_of(file);
  static const std::regex form("'descr': '(.*)', 'fortran_order': False, 'shape': \\(([0-9]+), ([0-9]+)\\)");
  std::smatch match;
  const std::size_t header = bytes.size() < preamble_bytes
                                 ? 0
                                 : static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string text = bytes.substr(0, preamble_bytes + header);
  if (!std::regex_search(text, match, form)) throw std::runtime_error(file.string() + " is no 2-D array");
  const Format& format = format_of(element);
  Matrix matrix(std::stol(match[2]), std::stol(match[3]));
  if (match[1] != format.descriptor ||
      bytes.size() != preamble_bytes + header + static_cast<std::size_t>(matrix.size()) * format.bytes)
    throw std::runtime_error(file.string() + " is no array of " + format.name);
  const char* data = bytes.data() + preamble_bytes + header;
  for (Eigen::Index i = 0; i < matrix.size(); ++i, data += format.bytes) matrix.data()[i] = value_at(data, element);
  return matrix;
}

Comparison compare(const Run& run, std::uint32_t gpus, Element element, Sums sums) {
  Matrix expected, magnitude;
  double depth = 0;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const Matrix a = load(run.array("gpu" + std::to_string(g) + ".a"), element);
    const Matrix b = load(run.array("gpu" + std::to_string(g) + ".b"), element);
    if (g == 0) expected = magnitude = Matrix::Zero(a.rows(), b.cols());
    expected.noalias() += a * b;
    magnitude.noalias() += a.cwiseAbs() * b.cwiseAbs();
    depth = static_cast<double>(a.cols());
  }
  const double roundings = gpus + 1 + (element == Element::fp32 ? depth : 0);
  const double allowed = sums == Sums::exact ? 0 : roundings * format_of(element).half_unit;
  Comparison result;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const Matrix out = load(run.array("gpu" + std::to_string(g) + ".out"), element);
    if (out.rows() != expected.rows() || out.cols() != expected.cols())
      throw std::runtime_error("out is of another shape");
    for (Eigen::Index i = 0; i < out.size(); ++i) {
      const double error = std::abs(out.data()[i] - expected.data()[i]);
      ++result.elements;
      if (!(error <= allowed * magnitude.data()[i])) ++result.wrong;
      result.largest_error = std::max(result.largest_error, error);
    }
  }
  return result;
}

Comparison compare_slabs(const Run& run, std::uint32_t gpus, Element element, std::uint32_t tile) {
  const auto array = [&](std::uint32_t gpu, const char* name) {
    return load(run.array("gpu" + std::to_string(gpu) + name), element);
  };
  const auto tiles_along = [tile](Eigen::Index elements) {
    return (static_cast<std::uint32_t>(elements) + tile - 1) / tile;
  };
  std::vector<Matrix> outs;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) outs.push_back(array(gpu, ".out"));
  Comparison comparison;
  for (std::uint32_t sender = 0; sender < gpus; ++sender) {
    const Matrix product = array(sender, ".a") * array(sender, ".b");
    const std::uint32_t across = tiles_along(product.cols()), tiles = across * tiles_along(product.rows());
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
      if (outs[gpu].rows() != product.rows() * gpus) throw std::runtime_error("not a slab for each GPU");
      for (Eigen::Index row = 0; row < product.rows(); ++row)
        for (Eigen::Index column = 0; column < product.cols(); ++column) {
          const auto number =
              static_cast<std::uint32_t>(row / tile) * across + static_cast<std::uint32_t>(column / tile);
          const bool is_own = gpu * tiles / gpus <= number && number < (gpu + 1) * tiles / gpus;
          const double found = outs[gpu](sender * product.rows() + row, column);
          if (is_own ? found != product(row, column) : !std::isnan(found)) ++comparison.wrong;
        }
      comparison.elements += static_cast<std::size_t>(product.size());
    }
  }
  return comparison;
}

std::string outputs(const Run& run, std::uint32_t gpus) {
  std::string all;
  for (std::uint32_t g = 0; g < gpus; ++g) all += text_of(run.array("gpu" + std::to_string(g) + ".out"));
  return all;
}

}  // namespace t3vp::test
