// Reads a line of a script from left to right, and says of what does not fit where it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace t3vp {

/// A part of a line that has been read.
struct ScriptToken {
  std::size_t column = 0;  ///< from 1
  std::string text;
};

class LineReader {
 public:
  /// Reads a line; text after # is ignored.
  explicit LineReader(std::string_view line) : line_(line.substr(0, line.find('#'))) { skip_spaces(); }

  bool at_end() const { return next_ == line_.size(); }
  /// Returns the column of the next character, from 1.
  std::size_t column() const { return next_ + 1; }
  /// Returns the column of the last word that was read.
  std::size_t last_column() const { return last_ + 1; }
  ScriptToken last() const;

  /// Letters, digits, underscores; empty when something else comes next.
  std::string_view word();
  /// Returns the next word without taking it.
  std::string_view next_word() const;
  /// A word with dots, and with indices in brackets unless it is a GPU's memory.
  std::string_view name();
  bool take(std::string_view symbol);
  bool take_word(std::string_view word);
  /// Throws ScriptError when it is not next.
  void require(std::string_view symbol);
  void require_end(const std::string& expected);
  std::uint64_t number(const std::string& expected, std::uint64_t most = ~std::uint64_t{0});

  /// Throws ScriptError about what has been read last.
  [[noreturn]] void reject(const std::string& expected) const;
  /// About what comes next.
  [[noreturn]] void reject_next(const std::string& expected) const;

 private:
  void skip_spaces();
  std::string_view take_up_to(std::size_t end);
  std::size_t end_of_word(std::size_t from) const;
  std::size_t end_of_token() const;

  std::string_view line_;
  std::size_t next_ = 0, last_ = 0;
};

}  // namespace t3vp
