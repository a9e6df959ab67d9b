// The tiles of the waves that run: their shapes, what is on its way into them, and in a functional run their contents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/matrix_unit.h"
#include "protocol/data_protocol.h"
#include "protocol/refusal.h"
#include "t3/device.h"

namespace t3vp::compute {

/// A tile's elements, row by row without gaps.
struct TileContents {
  std::vector<unsigned char> bytes;
  std::uint64_t address = 0;  ///< where the most recent load has come from
};

/// Loaded rows into the part of the tile that the access names, in the tile's element type.
void take_rows(TileContents& contents, const t3_tile& tile, const t3_access& access, const unsigned char* data);

/// The part of the tile that the access names, in the access's element type.
void give_rows(const TileContents& contents, const t3_tile& tile, const t3_access& access, unsigned char* data);

class TileFile {
 public:
  /// Waves are numbered from 0 on, and so are the tiles of each.
  TileFile(std::size_t waves, std::uint32_t tiles, bool functional);

  /// The wave's tiles hold nothing.
  void clear(std::size_t wave);
  /// The call uses its tiles, which are numbered rightly, as they are: empty, else a text.
  Refusal validate(std::size_t wave, const t3_call& call) const;
  /// The call that has begun gives its tiles their shapes.
  void begin(std::size_t wave, const t3_call& call);

  void awaits(std::size_t wave, const t3_tile& tile) { ++at(wave, tile).awaited; }
  void has_come(std::size_t wave, const t3_tile& tile) { --at(wave, tile).awaited; }
  /// Returns whether no load into the tile is in flight.
  bool is_here(std::size_t wave, const t3_tile& tile) const { return at(wave, tile).awaited == 0; }
  /// In a functional run alone. They have the tile's size, and are zeros where nothing has been loaded or computed
  /// since it has its shape.
  TileContents& contents(std::size_t wave, const t3_tile& tile);

 private:
  struct Tile {
    std::uint32_t rows = 0, columns = 0;  ///< 0: it holds nothing
    t3_element element = T3_FP32;
    bool by_work = false;       ///< nothing but vector work has computed it
    bool is_new = true;         ///< its contents are those of an earlier shape
    std::uint32_t awaited = 0;  ///< loads that have not come back

    bool has_shape_of(const t3_tile& tile) const {
      return rows == tile.rows && columns == tile.columns && element == tile.element;
    }
    t3_tile shaped(std::uint32_t index) const { return {index, rows, columns, element}; }
  };

  Tile& at(std::size_t wave, const t3_tile& tile) { return file_[wave * tiles_ + tile.index]; }
  const Tile& at(std::size_t wave, const t3_tile& tile) const { return file_[wave * tiles_ + tile.index]; }
  Refusal validate_use(std::size_t wave, const t3_tile& tile) const;
  Refusal validate_load(std::size_t wave, const t3_tile& tile) const;
  Refusal validate_product(std::size_t wave, const t3_product& product) const;
  Refusal validate_work(std::size_t wave, const t3_vector_work& work) const;
  Refusal validate_size(const t3_call& call) const;
  void shape(std::size_t wave, const t3_tile& tile, bool by_work);

  std::uint32_t tiles_;
  std::uint64_t elements_ = 0;  ///< of all tiles, by their shapes
  std::vector<Tile> file_;
  std::vector<TileContents> contents_;  ///< of the same; functional only
};

/// The matrix unit's operands while they are transposed.
class Multiplier {
 public:
  void multiply(const t3_product& product, TileContents& sum, const TileContents& a, const TileContents& b);

 private:
  FloatMatrix a_, b_;
};

}  // namespace t3vp::compute
