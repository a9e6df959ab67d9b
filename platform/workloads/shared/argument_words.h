// Words of run files as values: what the generated readers of workloads use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "t3/element.h"

namespace t3vp {

template <typename Value>
struct ArgumentWord {
  const char* word;
  Value value;
};

inline constexpr ArgumentWord<t3_element> element_words[] = {{"fp16", T3_FP16}, {"bf16", T3_BF16}, {"fp32", T3_FP32}};

/// The schema has checked that the word is one of them.
template <typename Value, std::size_t count>
Value value_of(const nlohmann::json& word, const ArgumentWord<Value> (&words)[count]) {
  for (const ArgumentWord<Value>& each : words)
    if (word == each.word) return each.value;
  return words[0].value;
}

/// Empty where the value is none of them.
template <typename Value, std::size_t count>
std::string word_of(Value value, const ArgumentWord<Value> (&words)[count]) {
  for (const ArgumentWord<Value>& each : words)
    if (value == each.value) return each.word;
  return {};
}

/// A tile in a run file, such as 128x256; 0 of both: it says nothing.
struct TileWords {
  std::uint32_t rows = 0, columns = 0;
};

/// Reads a text that the schema has checked.
inline TileWords tile_words(const nlohmann::json& text) {
  const std::string tile = text.get<std::string>();
  const std::size_t between = tile.find('x');
  return {static_cast<std::uint32_t>(std::stoul(tile)),
          static_cast<std::uint32_t>(std::stoul(tile.substr(between + 1)))};
}

inline std::string text_of(TileWords tile) { return std::to_string(tile.rows) + "x" + std::to_string(tile.columns); }

inline void set_tile(const nlohmann::json& text, std::uint32_t& rows, std::uint32_t& columns) {
  const TileWords tile = tile_words(text);
  rows = tile.rows;
  columns = tile.columns;
}

}  // namespace t3vp
