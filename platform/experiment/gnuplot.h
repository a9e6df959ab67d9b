// Texts, figures and colours as gnuplot takes them, and gnuplot itself. A script is commands of ours: names reach it
// only as constants in which nothing can be expanded, figures as numbers in data blocks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/value_range.h"

namespace t3vp::gnuplot {

/// A constant of nothing but letters, digits, a few harmless signs and octal escapes: neither quotes nor backquotes,
/// macros, variables or escapes of the text's own mean anything. Long texts are cut, for the picture's sake.
std::string text_constant(const std::string& text);

/// `("first" 0, "second" 1)`: labels of an axis at these places. gnuplot takes a label as a format of its place.
std::string tick_labels(const std::vector<std::pair<std::string, double>>& labels);

/// A number in a data block; "?" when missing.
std::string number(double value);
/// Value, least and most in a data block, for error bars; all are the value without a range.
std::string numbers(double value, const std::optional<ValueRange>& range, double divide_by);

inline constexpr std::size_t colours_count = 8;
/// Returns the n-th of a picture's colours, in quotes. After the last one they start again.
std::string colour(std::size_t index);
/// That of a traffic class, a phase or a part of a layer, the same in every picture; of other names the index's.
std::string colour_of(const std::string& key, std::size_t index);

/// Pixels that the longest of the texts takes.
std::size_t width_of(const std::vector<std::string>& texts);

/// Terminal, output, fonts and what all kinds of pictures share.
std::string header(const std::string& picture, std::size_t width, std::size_t height);

struct Drawing {
  bool missing = false;  ///< there is no gnuplot
  std::string failure;   ///< gnuplot's message; empty when it has drawn the picture
};

/// Draws `name`.svg by `name`.gnuplot in the folder; what gnuplot says goes to `name`.log.
Drawing draw(const std::filesystem::path& folder, const std::string& name);

}  // namespace t3vp::gnuplot
