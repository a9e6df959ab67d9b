#include "compute/tile_file.h"

#include <cstring>

#include "protocol/element.h"
#include "t3/element_bytes.h"

namespace t3vp {
namespace {

using Values = Eigen::Map<FloatMatrix>;
using ConstValues = Eigen::Map<const FloatMatrix>;

std::size_t bytes_of(t3_element element) { return t3_element_bytes(element); }

/// The first byte of a row of the access's part of the tile.
std::size_t place(const t3_tile& tile, const t3_access& access, std::uint32_t row) {
  return ((std::size_t{access.row} + row) * tile.columns + access.column) * bytes_of(tile.element);
}

ConstValues values(const t3_tile& tile, const TileContents& contents) {
  return {reinterpret_cast<const float*>(contents.bytes.data()), tile.rows, tile.columns};
}

}  // namespace

void fit(TileContents& contents, const t3_tile& tile) {
  contents.bytes.resize(std::size_t{tile.rows} * tile.columns * bytes_of(tile.element));
}

void take_rows(TileContents& contents, const t3_tile& tile, const t3_access& access, const unsigned char* data) {
  const std::size_t row_bytes = access.columns * bytes_of(access.element);
  for (std::uint32_t row = 0; row < access.rows; ++row, data += row_bytes) {
    unsigned char* const to = contents.bytes.data() + place(tile, access, row);
    if (tile.element == access.element)
      std::memcpy(to, data, row_bytes);
    else
      widen_elements(static_cast<ElementType>(access.element), data, reinterpret_cast<float*>(to), access.columns);
  }
}

void give_rows(const TileContents& contents, const t3_tile& tile, const t3_access& access, unsigned char* data) {
  const std::size_t row_bytes = access.columns * bytes_of(access.element);
  for (std::uint32_t row = 0; row < access.rows; ++row, data += row_bytes) {
    const unsigned char* const from = contents.bytes.data() + place(tile, access, row);
    if (tile.element == access.element)
      std::memcpy(data, from, row_bytes);
    else
      narrow_elements(static_cast<ElementType>(access.element), reinterpret_cast<const float*>(from), data,
                      access.columns);
  }
}

void Multiplier::multiply(const t3_product& product, TileContents& sum, const TileContents& a, const TileContents& b) {
  Values result(reinterpret_cast<float*>(sum.bytes.data()), product.sum.rows, product.sum.columns);
  if (!product.adds) result.setZero();
  if (product.transpose_a) a_ = values(product.a, a).transpose();
  if (product.transpose_b) b_ = values(product.b, b).transpose();
  const Eigen::Ref<const FloatMatrix> plain_a = values(product.a, a), plain_b = values(product.b, b);
  multiply_add(product.transpose_a ? Eigen::Ref<const FloatMatrix>(a_) : plain_a,
               product.transpose_b ? Eigen::Ref<const FloatMatrix>(b_) : plain_b, result);
}

}  // namespace t3vp
