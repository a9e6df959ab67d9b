#include "io/printable.h"

#include <algorithm>

namespace t3vp {
namespace {

constexpr const char* replacement = "\xEF\xBF\xBD";

unsigned char byte(const std::string& text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Bytes of the character of UTF-8 that begins here; 0 when none does.
std::size_t length_at(const std::string& text, std::size_t at) {
  struct Form {
    unsigned char first, last, least_second, most_second;
    std::size_t bytes;
  };
  // The forms of UTF-8 without overlong forms, surrogates, and numbers beyond U+10FFFF (RFC 3629).
  static constexpr Form forms[] = {
      {0x00, 0x7F, 0x80, 0xBF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
      {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
      {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
  const auto* const form = std::find_if(std::begin(forms), std::end(forms), [first = byte(text, at)](const Form& f) {
    return first >= f.first && first <= f.last;
  });
  if (form == std::end(forms) || form->bytes > text.size() - at) return 0;
  if (form->bytes > 1 && (byte(text, at + 1) < form->least_second || byte(text, at + 1) > form->most_second)) return 0;
  for (std::size_t i = 2; i < form->bytes; ++i)
    if (byte(text, at + i) < 0x80 || byte(text, at + i) > 0xBF) return 0;
  return form->bytes;
}

bool is_control(const std::string& text, std::size_t at) {
  const unsigned char first = byte(text, at);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && byte(text, at + 1) < 0xA0);
}

}  // namespace

std::string printable(const std::string& text) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = length_at(text, at);
    if (bytes == 0)
      line += replacement;
    else if (is_control(text, at))
      line += ' ';
    else
      line.append(text, at, bytes);
    at += std::max<std::size_t>(bytes, 1);
  }
  return line;
}

}  // namespace t3vp
