#include "debugger/hexadecimal.h"

#include <algorithm>
#include <charconv>

namespace t3vp::debug {
namespace {

constexpr std::size_t register_bytes = 8;

/// -1: it is no digit.
int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hexadecimal(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

std::optional<std::string> from_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_value(digits[i]), low = digit_value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string number_text(std::uint64_t number) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, number, 16).ptr;
  return {text, end};
}

std::string register_text(std::uint64_t value) {
  std::string bytes(register_bytes, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value);
    value >>= 8;
  }
  return to_hexadecimal(bytes);
}

std::optional<std::uint64_t> register_value(std::string_view digits) {
  const std::optional<std::string> bytes = from_hexadecimal(digits);
  if (!bytes || bytes->size() != register_bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (auto byte = bytes->rbegin(); byte != bytes->rend(); ++byte)
    value = value << 8 | static_cast<unsigned char>(*byte);
  return value;
}

bool Fields::take(std::string_view expected) {
  if (rest_.substr(0, expected.size()) != expected) return false;
  rest_.remove_prefix(expected.size());
  return true;
}

std::optional<std::uint64_t> Fields::number() {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, 16);
  if (error != std::errc() || rest_.front() == '-') return std::nullopt;
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::string_view Fields::until(char separator) {
  const std::size_t length = std::min(rest_.find(separator), rest_.size());
  const std::string_view field = rest_.substr(0, length);
  rest_.remove_prefix(std::min(length + 1, rest_.size()));
  return field;
}

}  // namespace t3vp::debug
