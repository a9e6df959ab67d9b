// Lines that somebody types at a terminal, with history and completion (libedit). It knows nothing of what they say.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace t3vp {

/// The possible continuations of the text before the cursor.
struct LineCompletion {
  std::size_t begun = 0;  ///< characters at its end that each of the texts begins with
  std::vector<std::string> texts;
};

class LineEditor {
 public:
  using Complete = std::function<LineCompletion(std::string_view before_cursor)>;

  /// Standard input and output are a terminal.
  explicit LineEditor(Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// The next line without its end, which the history then has; none at the end of the input. Ctrl-C drops what is
  /// typed and begins again.
  std::optional<std::string> next(const std::string& prompt);

 private:
  class Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace t3vp
