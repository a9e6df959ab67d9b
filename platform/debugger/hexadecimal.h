// Numbers and bytes as the GDB remote protocol writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace t3vp::debug {

/// Two digits for each byte.
std::string to_hexadecimal(std::string_view bytes);
/// Nothing when there is half a byte, or another character.
std::optional<std::string> from_hexadecimal(std::string_view digits);

/// Returns the number without leading zeros.
std::string number_text(std::uint64_t number);
/// A register of 64 bits: its bytes, the lowest first.
std::string register_text(std::uint64_t value);
/// Nothing unless it is 16 digits.
std::optional<std::uint64_t> register_value(std::string_view digits);

/// The part of a packet that is yet to be read.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  /// Whether the text goes on with this; then it is taken.
  bool take(std::string_view expected);
  /// 1 to 16 digits. Nothing is taken when there is no such number.
  std::optional<std::uint64_t> number();
  /// Returns the text up to the next `separator`, which is taken too, or to the end.
  std::string_view until(char separator);
  std::string_view rest() const { return rest_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace t3vp::debug
