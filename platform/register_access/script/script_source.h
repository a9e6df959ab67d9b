// The lines of a script with its variables, loops and included files, which become plain statements.
//
//   let base = 0x1000 + 64        sets a variable
//   for i = 0 to 3                the lines up to `end`, for i = 0, 1, 2 and 3
//     gpu0.signals.value[$i] = $(base + 64 * i)
//   end
//   include common.regs           the lines of another file, by its path from this one's folder
//
// All of it is expanded before a statement runs: values do not depend on what is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "register_access/script/script_expression.h"
#include "register_access/script/statement.h"

namespace t3vp {

/// A line whose variables have been replaced.
struct ScriptLine {
  std::string file;
  std::size_t number = 0;  ///< from 1
  std::string text;
  std::vector<std::size_t> columns;  ///< in the file, of each character and of the end

  /// Returns the column in the file of a column of the text, both from 1.
  std::size_t column(std::size_t in_text) const { return columns.at(std::min(in_text, columns.size()) - 1); }
};

/// A line that cannot be expanded, or no statement.
struct ScriptLineError : ScriptError {
  ScriptLineError(std::string its_file, std::size_t its_line, const ScriptError& error);

  std::string file;
  std::size_t line;  ///< from 1
};

class ScriptSource {
 public:
  static constexpr std::uint64_t most_lines = 100'000;  ///< that one loop or included file may make

  /// Takes the next line. Returns the lines that it makes: none within a loop, all of the loop at its end. Throws
  /// ScriptLineError.
  std::vector<ScriptLine> take(const std::string& file, std::size_t number, std::string_view line);
  /// The same of all lines of a file. Throws InputError about a file that cannot be read.
  std::vector<ScriptLine> take_file(const std::filesystem::path& file);
  /// Throws ScriptLineError about a loop without an end.
  void require_complete() const;
  /// Forgets a loop without its end, for a prompt; variables stay. Needed after an exception.
  void reset();
  bool is_in_loop() const { return depth_ != 0; }

 private:
  struct RawLine {
    std::string file;
    std::size_t number;
    std::string text;
  };
  using Lines = std::vector<RawLine>;

  void expand(const RawLine& line, std::vector<ScriptLine>& to);
  void expand_loop(const Lines& lines, std::size_t begin, std::size_t end, std::vector<ScriptLine>& to);
  void expand_all(const Lines& lines, std::size_t begin, std::size_t end, std::vector<ScriptLine>& to);
  void include(const RawLine& line, std::size_t column, std::string_view name, std::vector<ScriptLine>& to);
  void count(const RawLine& line);
  ScriptLine replaced(const RawLine& line) const;

  ScriptVariables variables_;
  Lines open_;                                    ///< of a loop whose end has not come
  std::size_t depth_ = 0;                         ///< loops that are open
  std::vector<std::filesystem::path> including_;  ///< files that are being read
  std::uint64_t lines_ = 0;                       ///< of the loop or included file
  std::size_t nesting_ = 0;                       ///< loops and included files that are being expanded
};

}  // namespace t3vp
