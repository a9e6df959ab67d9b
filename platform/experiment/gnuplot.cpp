#include "experiment/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "experiment/child_runs.h"

namespace t3vp::gnuplot {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_label = 60, pixels_per_character = 7;

constexpr std::array<const char*, colours_count> colours{"#4878a8", "#d9822b", "#7d5ba6", "#5a9367",
                                                         "#9aa5b1", "#b8504b", "#c9b458", "#3c3c3c"};

/// Whether the byte begins a character of UTF-8.
bool begins(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

std::string cut(const std::string& text) {
  if (characters(text) <= longest_label) return text;
  std::size_t seen = 0, end = 0;
  while (end < text.size() && (!begins(text[end]) || ++seen < longest_label)) ++end;
  return text.substr(0, end) + "\u2026";
}

/// Puts it in double quotes, with octal escapes for all but letters, digits, what is above ASCII and harmless signs: no
/// character is left that gnuplot could take for a quote, a command, a variable or a macro.
std::string escaped(const std::string& text) {
  const std::string harmless = " -_.,:=+/()";
  std::string result = "\"";
  bool after_escape = false;  // gnuplot would take a digit there for one of the escape's
  for (char character : text) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7F) character = ' ';
    const auto c = static_cast<unsigned char>(character);
    const bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z', is_digit = c >= '0' && c <= '9';
    after_escape =
        !is_letter && !(is_digit && !after_escape) && c < 0x80 && harmless.find(character) == std::string::npos;
    result += after_escape ? fmt::format("\\{:03o}", c) : std::string(1, character);
  }
  return result + "\"";
}

/// gnuplot's last message, in one line: its lines before that quote the script.
std::string message(const fs::path& log) {
  std::ifstream in(log);
  std::string line, text;
  while (std::getline(in, line)) {
    if (line.find_first_not_of(" \t^") == std::string::npos) continue;
    const bool begins_message = line.front() == '"' && line.find("\" line ") != std::string::npos;
    text = begins_message || text.rfind('"', 0) != 0 ? line : text + "; " + line;
  }
  return text.empty() ? "gnuplot failed" : text;
}

/// Returns whether the picture is complete: gnuplot does not report a full disk.
bool is_whole(const fs::path& picture) {
  std::ifstream in(picture, std::ios::binary | std::ios::ate);
  const std::string end = "</svg>";
  std::string tail(16, ' ');
  if (!in || in.tellg() < static_cast<std::streamoff>(tail.size())) return false;
  in.seekg(-static_cast<std::streamoff>(tail.size()), std::ios::end);
  in.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return tail.find(end) != std::string::npos;
}

}  // namespace

std::string text_constant(const std::string& text) { return escaped(cut(text)); }

std::string tick_labels(const std::vector<std::pair<std::string, double>>& labels) {
  std::string list;
  for (const auto& [text, place] : labels) {
    std::string format;
    for (const char c : cut(text)) format += c == '%' ? std::string("%%") : std::string(1, c);
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", escaped(format), place);
  }
  return "(" + list + ")";
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "?"; }

std::string numbers(double value, const std::optional<ValueRange>& range, double divide_by) {
  return fmt::format("{} {} {}", number(value / divide_by), number((range ? range->least : value) / divide_by),
                     number((range ? range->most : value) / divide_by));
}

std::string colour(std::size_t index) { return fmt::format("'{}'", colours[index % colours.size()]); }

std::string colour_of(const std::string& key, std::size_t index) {
  static constexpr std::array<std::pair<const char*, std::size_t>, 11> known{{{"gemm_read", 0},
                                                                              {"gemm_write", 1},
                                                                              {"rs_read", 2},
                                                                              {"rs_write", 3},
                                                                              {"ag_read", 4},
                                                                              {"ag_write", 5},
                                                                              {"control", 6},
                                                                              {"setup", 7},
                                                                              {"gemm", 0},
                                                                              {"reduce_scatter", 1},
                                                                              {"all_gather", 3}}};
  const std::string name = key.substr(key.rfind('.') + 1);
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return name == entry.first; });
  return colour(found != known.end() ? found->second : index);
}

std::size_t width_of(const std::vector<std::string>& texts) {
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, std::min(characters(text), longest_label));
  return longest * pixels_per_character;
}

std::string header(const std::string& picture, std::size_t width, std::size_t height) {
  return fmt::format(
      "set encoding utf8\nset terminal svg noenhanced size {},{} font 'sans-serif,12' background 'white'\n"
      "set output {}\nset datafile missing '?'\nset border 3\nset tics nomirror\n"
      "set grid ytics linecolor rgb '#dddddd'\nset style fill solid 0.9 noborder\n",
      width, height, text_constant(picture));
}

Drawing draw(const fs::path& folder, const std::string& name) {
  constexpr int no_such_program = 127;
  const fs::path picture = folder / (name + ".svg"), log = folder / (name + ".log");
  std::error_code error;
  fs::remove(picture, error);  // an older one must not pass for this one, and gnuplot would wait for a pipe's reader
  const int code = run_program({"gnuplot", "-d", name + ".gnuplot"}, folder, log);
  if (code == no_such_program) return {true, ""};
  if (code != 0) return {false, message(log)};
  return {false, is_whole(picture) ? "" : "gnuplot has not written all of the picture"};
}

}  // namespace t3vp::gnuplot
