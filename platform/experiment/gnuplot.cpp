#include "experiment/gnuplot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string cut(const std::string& text, std::size_t most = longest_label) {
  if (characters(text) <= most) return text;
  std::size_t seen = 0, end = 0;
  while (end < text.size() && (!begins(text[end]) || ++seen < most)) ++end;
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

std::string text_constant(const std::string& text, std::size_t most_characters) {
  return escaped(cut(text, most_characters));
}

constexpr std::size_t longest_title = 120;

std::size_t width_of_title(const std::string& text) {
  constexpr std::size_t pixels = 8;  // of a character of its font
  return std::min(characters(text), longest_title) * pixels + 20;
}

std::string title(const std::string& text, std::size_t picture_height) {
  return fmt::format("set label {} at screen 0.5, screen {:.4f} center font ',14'\n",
                     text_constant(text, longest_title), 1 - 15.0 / static_cast<double>(picture_height));
}

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
  static constexpr std::array<std::pair<const char*, std::size_t>, 12> known{{{"gemm_read", 0},
                                                                              {"gemm_write", 1},
                                                                              {"rs_read", 2},
                                                                              {"rs_write", 3},
                                                                              {"ag_read", 4},
                                                                              {"ag_write", 5},
                                                                              {"control", 6},
                                                                              {"setup", 7},
                                                                              {"gemm", 0},
                                                                              {"reduce_scatter", 1},
                                                                              {"fused", 2},
                                                                              {"all_gather", 3}}};
  constexpr std::array<const char*, 4> others{"#5fa8a8", "#a8688f", "#8c6d46", "#5566bb"};  // none of the known ones'
  const std::string exposed = "time_ns.exposed_";
  const bool is_exposed = key.rfind(exposed, 0) == 0;
  const std::string name = is_exposed ? key.substr(exposed.size()) : key.substr(key.rfind('.') + 1);
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return name == entry.first; });
  if (found != known.end()) return colour(found->second);
  return index < others.size() ? fmt::format("'{}'", others[index]) : colour(index);
}

std::size_t width_of(const std::vector<std::string>& texts) {
  std::size_t longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, std::min(characters(text), longest_label));
  return longest * pixels_per_character;
}

Legend::Legend(const std::vector<std::string>& texts, std::size_t pixels) {
  constexpr std::size_t sample = 70;  // pixels of a line or box and of the space around it
  if (texts.empty()) return;
  columns = std::clamp<std::size_t>(pixels / (width_of(texts) + sample), 1, texts.size());
  lines = (texts.size() + columns - 1) / columns;
}

std::string Legend::commands(std::size_t picture_height) const {
  if (lines == 0) return "unset key\n";
  return fmt::format("set key horizontal center top at screen 0.5, screen {:.4f} maxcols {} maxrows {} noautotitle\n",
                     1 - static_cast<double>(title_height) / static_cast<double>(picture_height), columns, lines);
}

std::string Legend::drawn(const std::vector<std::string>& entries, std::size_t picture_height) const {
  return commands(picture_height) +
         fmt::format(
             "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\nset bmargin at screen 0\n"
             "unset border\nunset xtics\nunset ytics\nset xrange [0:1]\nset yrange [0:1]\n"
             "plot 2 notitle, keyentry {}\nunset key\nunset label\nset border 3\nset xtics nomirror\nset ytics "
             "nomirror\n",
             fmt::join(entries, ", keyentry "));
}

std::string label(const std::string& text, double x, double screen_y, const std::string& how) {
  return fmt::format("set label {} at first {:.6g}, screen {:.4f} {}\n", text_constant(text), x, screen_y, how);
}

std::string baseline(double value) {
  return fmt::format(
      "set arrow from graph 0, first {0:.9g} to graph 1, first {0:.9g} nohead linecolor rgb '#3c3c3c' dashtype 2 "
      "front\n",
      value);
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
