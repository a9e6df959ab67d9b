#include "register_access/script/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "register_access/names/register_names.h"
#include "register_access/script/statement.h"

namespace t3vp {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

void LineReader::skip_spaces() {
  while (!at_end() && is_space(line_[next_])) ++next_;
}

std::string_view LineReader::take_up_to(std::size_t end) {
  last_ = next_;
  next_ = end;
  const std::string_view taken = line_.substr(last_, end - last_);
  skip_spaces();
  return taken;
}

std::size_t LineReader::end_of_word(std::size_t from) const {
  std::size_t end = from;
  while (end < line_.size() && is_of_word(line_[end])) ++end;
  return end;
}

std::string_view LineReader::word() { return take_up_to(end_of_word(next_)); }

std::string_view LineReader::next_word() const { return line_.substr(next_, end_of_word(next_) - next_); }

std::string_view LineReader::name() {
  constexpr std::string_view memory = ".memory";
  std::size_t end = next_;
  while (end < line_.size() && (is_of_word(line_[end]) || line_[end] == '.' || line_[end] == '[')) {
    if (line_[end] != '[') {
      ++end;
      continue;
    }
    const std::string_view so_far = line_.substr(next_, end - next_);
    if (so_far.size() > memory.size() && so_far.substr(so_far.size() - memory.size()) == memory) break;
    const std::size_t close = line_.find(']', end);
    end = close == std::string_view::npos ? end_of_word(end + 1) : close + 1;
  }
  return take_up_to(end);
}

bool LineReader::take(std::string_view symbol) {
  if (line_.substr(next_, symbol.size()) != symbol) return false;
  take_up_to(next_ + symbol.size());
  return true;
}

bool LineReader::take_word(std::string_view word) {
  if (next_word() != word) return false;
  take_up_to(next_ + word.size());
  return true;
}

void LineReader::require(std::string_view symbol) {
  if (!take(symbol)) reject_next(std::string(symbol));
}

void LineReader::require_end(const std::string& expected) {
  if (!at_end()) reject_next(expected);
}

std::uint64_t LineReader::number(const std::string& expected, std::uint64_t most) {
  if (next_word().empty()) reject_next(expected);
  const std::optional<std::uint64_t> number = number_of(word());
  if (!number || *number > most) reject(expected);
  return *number;
}

ScriptToken LineReader::last() const {
  std::size_t end = next_;
  while (end > last_ && is_space(line_[end - 1])) --end;
  return {last_column(), std::string(line_.substr(last_, end - last_))};
}

void LineReader::reject(const std::string& expected) const {
  ScriptToken found = last();
  throw ScriptError(found.column, std::move(found.text), expected);
}

/// A word, a single other character, or up to the next space what is no printable ASCII.
std::size_t LineReader::end_of_token() const {
  if (at_end()) return next_;
  if (line_[next_] > ' ' && line_[next_] < '\x7F') return std::max(end_of_word(next_), next_ + 1);
  return std::min(line_.find_first_of(" \t\r", next_), line_.size());
}

void LineReader::reject_next(const std::string& expected) const {
  throw ScriptError(column(), std::string(line_.substr(next_, end_of_token() - next_)), expected);
}

}  // namespace t3vp
