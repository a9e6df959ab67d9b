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
std::string text_constant(const std::string& text, std::size_t most_characters = 60);

/// `("first" 0, "second" 1)`: labels of an axis at these places. gnuplot takes a label as a format of its place.
std::string tick_labels(const std::vector<std::pair<std::string, double>>& labels);

/// A number in a data block; "?" when missing.
std::string number(double value);
/// Value, least and most in a data block, for error bars; all are the value without a range.
std::string numbers(double value, const std::optional<ValueRange>& range, double divide_by);

inline constexpr std::size_t colours_count = 8;
/// Returns the n-th of a picture's colours, in quotes. After the last one they start again.
std::string colour(std::size_t index);
/// That of a traffic class, a phase or a part of a layer, the same in every picture; other names have the index's
/// of further colours.
std::string colour_of(const std::string& key, std::size_t index);

/// Pixels that a picture's title takes.
std::size_t width_of_title(const std::string& text);
/// `set label`: the title in the middle above everything, in a picture of this height.
std::string title(const std::string& text, std::size_t picture_height);
inline constexpr std::size_t title_height = 30;

/// Pixels that the longest of the texts takes.
std::size_t width_of(const std::vector<std::string>& texts);

/// The legend's columns across so many pixels, and the lines that it takes.
struct Legend {
  Legend(const std::vector<std::string>& texts, std::size_t pixels);
  std::size_t columns = 1, lines = 0;  ///< no lines: there is nothing to tell apart

  std::size_t height() const { return 20 * lines; }
  /// Commands that put it in the middle below the title of a picture of this height.
  std::string commands(std::size_t picture_height) const;
  /// A plot of nothing but the legend, across the picture; each of the entries is "with STYLE title NAME ...".
  std::string drawn(const std::vector<std::string>& entries, std::size_t picture_height) const;
};

/// `set label`: a text at a place along the x axis, this far from the lower edge as a share of the picture's height.
/// `how` is its alignment and rotation.
std::string label(const std::string& text, double x, double screen_y, const std::string& how);

/// A dashed line across the picture at this value of the y axis.
std::string baseline(double value);

/// Terminal, output, fonts and what all kinds of pictures share.
std::string header(const std::string& picture, std::size_t width, std::size_t height);

struct Drawing {
  bool missing = false;  ///< there is no gnuplot
  std::string failure;   ///< gnuplot's message; empty when it has drawn the picture
};

/// Draws `name`.svg by `name`.gnuplot in the folder; what gnuplot says goes to `name`.log.
Drawing draw(const std::filesystem::path& folder, const std::string& name);

}  // namespace t3vp::gnuplot
