#include "cli/line_editor.h"

#include <histedit.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace t3vp {
namespace {

std::string common_beginning(const std::vector<std::string>& texts) {
  std::string common = texts.front();
  for (const std::string& text : texts) {
    const auto end = std::mismatch(common.begin(), common.end(), text.begin(), text.end()).first;
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace

class LineEditor::Terminal {
 public:
  explicit Terminal(Complete complete)
      : complete_(std::move(complete)), history_(history_init()), line_(el_init("t3vp", stdin, stdout, stderr)) {
    if (history_ == nullptr || line_ == nullptr) throw std::runtime_error("the terminal cannot be used");
    HistEvent event;
    history(history_, &event, H_SETSIZE, most_lines);
    history(history_, &event, H_SETUNIQUE, 1);
    el_set(line_, EL_CLIENTDATA, this);
    el_set(line_, EL_PROMPT, &Terminal::prompt);
    el_set(line_, EL_SIGNAL, 1);
    el_set(line_, EL_EDITOR, "emacs");
    el_set(line_, EL_SETTY, "-d", "-intr", nullptr);  // while a line is typed Ctrl-C is a key
    el_set(line_, EL_ADDFN, "drop", "drop the line", &Terminal::drop);
    el_set(line_, EL_BIND, "^C", "drop", nullptr);
    el_set(line_, EL_HIST, history, history_);
    el_set(line_, EL_ADDFN, "complete", "complete a name", &Terminal::complete);
    el_set(line_, EL_BIND, "^I", "complete", nullptr);
  }
  ~Terminal() {
    if (line_ != nullptr) el_end(line_);
    if (history_ != nullptr) history_end(history_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::optional<std::string> next(const std::string& prompt) {
    prompt_ = prompt;
    int count = 0;
    const char* const text = el_gets(line_, &count);
    if (text == nullptr || count <= 0) return std::nullopt;
    std::string line(text, static_cast<std::size_t>(count));
    HistEvent event;
    if (line.find_first_not_of(" \t\r\n") != std::string::npos) history(history_, &event, H_ENTER, line.c_str());
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return line;
  }

 private:
  static constexpr int most_lines = 1000;

  static Terminal& of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }

  static char* prompt(EditLine* line) { return of(line).prompt_.data(); }

  static unsigned char drop(EditLine* line, int) {
    const LineInfo* const info = el_line(line);
    const auto length = static_cast<int>(info->lastchar - info->buffer);
    el_cursor(line, static_cast<int>(info->lastchar - info->cursor));
    el_deletestr(line, length);
    std::fputs("^C\n", stdout);
    return CC_REDISPLAY;
  }

  /// Goes on as far as all that is possible begins alike; shows it when that is no further.
  static unsigned char complete(EditLine* line, int) {
    const LineInfo* const info = el_line(line);
    const auto before = static_cast<std::size_t>(info->cursor - info->buffer);
    const LineCompletion found = of(line).complete_({info->buffer, before});
    if (found.texts.empty()) return CC_REFRESH_BEEP;
    const std::string more = common_beginning(found.texts).substr(found.begun);
    if (!more.empty()) {
      el_insertstr(line, more.c_str());
      return CC_REFRESH;
    }
    if (found.texts.size() == 1) return CC_REFRESH_BEEP;
    std::fputc('\n', stdout);
    for (const std::string& text : found.texts) std::fprintf(stdout, "  %s\n", text.c_str());
    return CC_REDISPLAY;
  }

  Complete complete_;
  std::string prompt_;
  History* history_;
  EditLine* line_;
};

LineEditor::LineEditor(Complete complete) : terminal_(std::make_unique<Terminal>(std::move(complete))) {}
LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::next(const std::string& prompt) { return terminal_->next(prompt); }

}  // namespace t3vp
