#include "compute/tile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/device_mistakes.h"
#include "protocol/element.h"
#include "t3/element_bytes.h"

namespace t3vp::compute {
namespace {

using Values = Eigen::Map<FloatMatrix>;
using ConstValues = Eigen::Map<const FloatMatrix>;

std::size_t bytes_of(t3_element element) { return t3_element_bytes(element); }
std::size_t bytes_of(const t3_tile& tile) { return std::size_t{tile.rows} * tile.columns * bytes_of(tile.element); }

/// The first byte of a row of the access's part of the tile.
std::size_t place(const t3_tile& tile, const t3_access& access, std::uint32_t row) {
  return ((std::size_t{access.row} + row) * tile.columns + access.column) * bytes_of(tile.element);
}

ConstValues values(const t3_tile& tile, const TileContents& contents) {
  return {reinterpret_cast<const float*>(contents.bytes.data()), tile.rows, tile.columns};
}

}  // namespace

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

TileFile::TileFile(std::size_t waves, std::uint32_t tiles, bool functional) : tiles_(tiles), file_(waves * tiles) {
  if (functional) contents_.resize(file_.size());
}

void TileFile::clear(std::size_t wave) {
  for (std::size_t i = wave * tiles_; i < (wave + 1) * tiles_; ++i) {
    elements_ -= std::uint64_t{file_[i].rows} * file_[i].columns;
    file_[i] = {};
  }
}

TileContents& TileFile::contents(std::size_t wave, const t3_tile& tile) {
  TileContents& contents = contents_[wave * tiles_ + tile.index];
  bool& is_new = at(wave, tile).is_new;
  if (is_new) contents.bytes.assign(bytes_of(tile), 0);
  is_new = false;
  return contents;
}

void TileFile::shape(std::size_t wave, const t3_tile& tile, bool by_work) {
  Tile& file = at(wave, tile);
  file.is_new = file.is_new || !file.has_shape_of(tile);
  elements_ += std::uint64_t{tile.rows} * tile.columns - std::uint64_t{file.rows} * file.columns;
  file.rows = tile.rows;
  file.columns = tile.columns;
  file.element = tile.element;
  file.by_work = by_work;
}

void TileFile::begin(std::size_t wave, const t3_call& call) {
  if (call.kind == T3_CALL_LOAD) return shape(wave, call.tile, false);
  if (call.kind == T3_CALL_MULTIPLY) return shape(wave, call.product.sum, false);
  if (call.kind != T3_CALL_WORK) return;
  for (std::uint32_t i = 0; i < call.work.operands; ++i) {
    const t3_tile& tile = call.work.tiles[i];
    if (at(wave, tile).rows == 0 || at(wave, tile).by_work) shape(wave, tile, true);
  }
}

Refusal TileFile::validate_use(std::size_t wave, const t3_tile& tile) const {
  const Tile& is = at(wave, tile);
  if (is.has_shape_of(tile)) return {};
  if (is.rows == 0)
    return refused(Status::aborted,
                   "{}: nothing has been loaded or computed there, a tile that holds something expected",
                   text_of(tile));
  return refused(Status::aborted, "{}: it holds {}, which is expected", text_of(tile), text_of(is.shaped(tile.index)));
}

/// Whatever overwrites a tile.
Refusal TileFile::validate_load(std::size_t wave, const t3_tile& tile) const {
  const Tile& is = at(wave, tile);
  if (is.awaited == 0 || is.has_shape_of(tile)) return {};
  return refused(Status::aborted, "{}: {} loads of {} are under way, the same shape expected until they have come",
                 text_of(tile), is.awaited, text_of(is.shaped(tile.index)));
}

Refusal TileFile::validate_product(std::size_t wave, const t3_product& product) const {
  for (const t3_tile& factor : {product.a, product.b})
    if (Refusal wrong = validate_use(wave, factor)) return wrong;
  return product.adds ? validate_use(wave, product.sum) : validate_load(wave, product.sum);
}

Refusal TileFile::validate_work(std::size_t wave, const t3_vector_work& work) const {
  for (std::uint32_t i = 0; i < work.operands; ++i) {
    const Tile& is = at(wave, work.tiles[i]);
    if (is.rows == 0 || is.by_work) continue;
    if (Refusal wrong = validate_use(wave, work.tiles[i])) return wrong;
  }
  return {};
}

/// The host has to hold them all.
Refusal TileFile::validate_size(const t3_call& call) const {
  std::uint64_t more = 0;
  const auto add = [&more](const t3_tile& tile) { more += std::uint64_t{tile.rows} * tile.columns; };
  if (call.kind == T3_CALL_LOAD) add(call.tile);
  if (call.kind == T3_CALL_MULTIPLY) add(call.product.sum);
  if (call.kind == T3_CALL_WORK) std::for_each(call.work.tiles, call.work.tiles + call.work.operands, add);
  if (more == 0 || contents_.empty() || elements_ + more <= T3_RESIDENT_ELEMENTS_MAX) return {};
  return refused(Status::aborted,
                 "tiles of {} elements beside {} of others: up to {} at once expected in a functional run", more,
                 elements_, static_cast<int>(T3_RESIDENT_ELEMENTS_MAX));
}

Refusal TileFile::validate(std::size_t wave, const t3_call& call) const {
  if (Refusal wrong = validate_size(call)) return wrong;
  switch (call.kind) {
    case T3_CALL_LOAD:
      return validate_load(wave, call.tile);
    case T3_CALL_STORE:
    case T3_CALL_UPDATE:
      return validate_use(wave, call.tile);
    case T3_CALL_WAIT_TILE:
      return at(wave, call.tile).rows == 0 ? Refusal{} : validate_use(wave, call.tile);
    case T3_CALL_MULTIPLY:
      return validate_product(wave, call.product);
    case T3_CALL_ADD: {
      Refusal wrong = validate_use(wave, call.tile);
      return wrong ? wrong : validate_use(wave, call.addend);
    }
    case T3_CALL_WORK:
      return validate_work(wave, call.work);
    default:
      return {};
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

}  // namespace t3vp::compute
