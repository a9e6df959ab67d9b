#include "register_access/script/script_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "io/input_error.h"
#include "io/input_file.h"
#include "register_access/script/line_reader.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The first word of a line, which says what kind it is.
std::string_view first_word(std::string_view line) { return LineReader(line).next_word(); }

bool begins_loop(std::string_view line) { return first_word(line) == "for"; }
bool ends_loop(std::string_view line) { return first_word(line) == "end"; }

struct Loop {
  std::string variable;
  std::uint64_t first = 0, last = 0;
};

/// Returns the name behind `let` or `for`, with the `=` behind it taken.
std::string take_name(LineReader& reader) {
  constexpr const char* a_name = "a variable's name: letters, digits and underscores";
  if (reader.next_word().empty()) reader.reject_next(a_name);
  const std::string name(reader.word());
  if (!is_variable_name(name)) reader.reject(a_name);
  reader.require("=");
  return name;
}

Loop loop_of(std::string_view line, const ScriptVariables& variables) {
  const std::string_view text = without_comment(line);
  LineReader reader(line);
  reader.word();
  Loop loop{take_name(reader)};
  const std::size_t begin = reader.column() - 1, to = text.find(" to ", begin);
  if (to == std::string_view::npos) throw ScriptError(text.size() + 1, "", "to and the last value: for i = 0 to 3");
  constexpr std::size_t separator = 4;
  loop.first = value_of_expression(text.substr(begin, to - begin), variables, begin + 1);
  loop.last = value_of_expression(text.substr(to + separator), variables, to + separator + 1);
  return loop;
}

/// Calls `expand`; its errors get the line's place.
template <typename Line, typename Expand>
void at_line(const Line& line, Expand expand) {
  try {
    expand();
  } catch (const ScriptLineError&) {
    throw;
  } catch (const ScriptError& error) {
    throw ScriptLineError(line.file, line.number, error);
  }
}

}  // namespace

ScriptLineError::ScriptLineError(std::string its_file, std::size_t its_line, const ScriptError& error)
    : ScriptError(error), file(std::move(its_file)), line(its_line) {}

std::vector<ScriptLine> ScriptSource::take(const std::string& file, std::size_t number, std::string_view line) {
  const RawLine raw{file, number, std::string(number == 1 ? without_byte_order_mark(line) : line)};
  std::vector<ScriptLine> made;
  if (nesting_ == 0 && depth_ == 0) lines_ = 0;
  if (begins_loop(raw.text)) ++depth_;
  if (depth_ == 0) {
    expand(raw, made);
    return made;
  }
  if (ends_loop(raw.text)) --depth_;
  open_.push_back(raw);
  count(raw);
  if (depth_ != 0) return made;
  const Lines loop = std::exchange(open_, {});
  expand_all(loop, 0, loop.size(), made);
  return made;
}

void ScriptSource::reset() {
  open_.clear();
  including_.clear();
  depth_ = nesting_ = 0;
}

std::vector<ScriptLine> ScriptSource::take_file(const fs::path& file) {
  std::istringstream text(read_input(file, "register script"));
  std::vector<ScriptLine> lines;
  std::size_t number = 0;
  including_.push_back(fs::weakly_canonical(file));
  for (std::string line; std::getline(text, line);) {
    std::vector<ScriptLine> made = take(file.string(), ++number, line);
    std::move(made.begin(), made.end(), std::back_inserter(lines));
  }
  require_complete();
  including_.pop_back();
  return lines;
}

void ScriptSource::require_complete() const {
  if (open_.empty()) return;
  const RawLine& line = open_.front();
  throw ScriptLineError(line.file, line.number,
                        ScriptError(LineReader(line.text).column(), "a loop without an end", "a line `end` behind it"));
}

void ScriptSource::count(const RawLine& line) {
  if (++lines_ <= most_lines) return;
  throw ScriptLineError(
      line.file, line.number,
      ScriptError(1, fmt::format("more than {} lines of a loop or an included file", most_lines), "fewer repetitions"));
}

void ScriptSource::expand_all(const Lines& lines, std::size_t begin, std::size_t end, std::vector<ScriptLine>& to) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!begins_loop(lines[i].text)) {
      expand(lines[i], to);
      continue;
    }
    std::size_t depth = 1, last = i;
    while (depth != 0) {
      ++last;
      depth += begins_loop(lines[last].text) ? 1U : 0U;
      depth -= ends_loop(lines[last].text) ? 1U : 0U;
    }
    expand_loop(lines, i, last, to);
    i = last;
  }
}

void ScriptSource::expand_loop(const Lines& lines, std::size_t begin, std::size_t end, std::vector<ScriptLine>& to) {
  Loop loop;
  at_line(lines[begin], [&] { loop = loop_of(lines[begin].text, variables_); });
  at_line(lines[end], [&] {
    LineReader reader(lines[end].text);
    reader.word();
    reader.require_end("the end of the line");
  });
  ++nesting_;
  for (std::uint64_t value = loop.first; value <= loop.last; ++value) {
    count(lines[begin]);
    variables_[loop.variable] = value;
    expand_all(lines, begin + 1, end, to);
    if (value == loop.last) break;  // it may be the largest number
  }
  --nesting_;
}

void ScriptSource::expand(const RawLine& line, std::vector<ScriptLine>& to) {
  count(line);
  at_line(line, [&] {
    const std::string_view text = without_comment(line.text);
    LineReader reader(line.text);
    if (reader.take_word("let")) {
      const std::string name = take_name(reader);
      const std::size_t at = std::min(reader.column() - 1, text.size());
      variables_[name] = value_of_expression(text.substr(at), variables_, at + 1);
    } else if (reader.take_word("include")) {
      const std::size_t at = std::min(reader.column() - 1, text.size());
      include(line, at + 1, trimmed(text.substr(at)), to);
    } else if (reader.next_word() == "end") {
      reader.reject_next("a loop that it ends: `for` before it");
    } else {
      to.push_back(replaced(line));
    }
  });
}

void ScriptSource::include(const RawLine& line, std::size_t column, std::string_view name,
                           std::vector<ScriptLine>& to) {
  if (name.empty()) throw ScriptError(column, "", "the path of a register script");
  const fs::path file = fs::path(line.file).parent_path() / fs::path(name);
  const fs::path canonical = fs::weakly_canonical(file);
  if (std::find(including_.begin(), including_.end(), canonical) != including_.end())
    throw ScriptError(column, std::string(name) + ", which is being read", "a file that does not include itself");
  std::vector<ScriptLine> made;
  ++nesting_;
  try {
    made = take_file(file);
  } catch (const InputError& error) {
    throw ScriptError(column, std::string(name), fmt::format("a register script that can be read ({})", error.what()));
  }
  --nesting_;
  std::move(made.begin(), made.end(), std::back_inserter(to));
}

/// `$name` and `$(expression)` become decimal numbers.
ScriptLine ScriptSource::replaced(const RawLine& line) const {
  const std::string_view text = without_comment(line.text);
  ScriptLine made{line.file, line.number, "", {}};
  const auto add = [&made](std::string_view part, std::size_t column) {
    made.text += part;
    made.columns.insert(made.columns.end(), part.size(), column);
  };
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] != '$') {
      add(text.substr(at, 1), at + 1);
      ++at;
      continue;
    }
    const std::size_t begin = at++;
    std::size_t end = at;
    if (text.substr(at, 1) == "(") {
      std::size_t depth = 0;
      do {
        if (end == text.size()) throw ScriptError(end + 1, "", ") of the expression");
        depth += text[end] == '(' ? 1U : 0U;
        depth -= text[end] == ')' ? 1U : 0U;
        ++end;
      } while (depth != 0);
    } else {
      while (end < text.size() && is_variable_name(text.substr(at, end + 1 - at))) ++end;
      if (end == at) throw ScriptError(begin + 1, "$", "a variable's name or an expression in parentheses behind it");
    }
    add(std::to_string(value_of_expression(text.substr(at, end - at), variables_, at + 1)), begin + 1);
    at = end;
  }
  made.columns.push_back(text.size() + 1);
  return made;
}

}  // namespace t3vp
