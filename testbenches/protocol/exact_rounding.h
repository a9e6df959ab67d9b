// Round to nearest even by the definition: bracket the exact value between two neighbours of the format and take the
// nearer one, on a tie the one whose last bit is 0. Shares no code with the models and converts no number to a format.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace t3vp {

/// An exact sum of two doubles (Knuth's two-sum): value + error, |error| at most half a unit in the value's last place.
struct ExactSum {
  double value, error;

  ExactSum(double a, double b) : value(a + b) {
    const double b_part = value - a;
    error = (a - (value - b_part)) + (b - b_part);
  }
  bool negative() const { return value < 0 || (value == 0 && std::signbit(value)); }
  ExactSum magnitude() const { return negative() ? ExactSum(-value, -error) : *this; }
  /// Sign of this minus a double.
  int compare(double other) const {
    if (value != other) return value < other ? -1 : 1;
    return error < 0 ? -1 : error > 0 ? 1 : 0;
  }
};

/// A binary format of sign, `exponent_bits` and `fraction_bits`, at most 16 bits, with IEEE's encodings.
class SmallFormat {
 public:
  SmallFormat(unsigned exponent_bits, unsigned fraction_bits)
      : exponent_bits_(exponent_bits), fraction_bits_(fraction_bits) {
    for (std::uint32_t bits = 0; bits < infinity(); ++bits) magnitudes_.push_back(magnitude(bits));
    magnitudes_.push_back(std::ldexp(1.0, 1 << (exponent_bits_ - 1)));  // where infinity would lie
  }

  std::uint16_t sign() const { return static_cast<std::uint16_t>(1u << (exponent_bits_ + fraction_bits_)); }
  std::uint16_t infinity() const { return static_cast<std::uint16_t>(((1u << exponent_bits_) - 1) << fraction_bits_); }
  bool is_nan(std::uint16_t bits) const { return (bits & (sign() - 1)) > infinity(); }
  bool is_finite(std::uint16_t bits) const { return (bits & (sign() - 1)) < infinity(); }

  /// The value has to be finite.
  double decode(std::uint16_t bits) const {
    const double value = magnitudes_[bits & (sign() - 1u)];
    return (bits & sign()) != 0 ? -value : value;
  }

  std::uint16_t round(const ExactSum& exact) const {
    const ExactSum x = exact.magnitude();
    const std::uint16_t sign_bit = exact.negative() ? sign() : 0;
    if (x.compare(magnitudes_.back()) >= 0) return sign_bit | infinity();
    const auto above = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), x,
                                        [](const ExactSum& a, double b) { return a.compare(b) < 0; });
    const auto high = static_cast<std::uint16_t>(above - magnitudes_.begin());
    const auto low = static_cast<std::uint16_t>(high - 1);
    const int side = x.compare((magnitudes_[low] + magnitudes_[high]) / 2);
    const bool up = side > 0 || (side == 0 && high % 2 == 0);
    return static_cast<std::uint16_t>(sign_bit | (up ? high : low));
  }

 private:
  double magnitude(std::uint32_t bits) const {
    const int bias = (1 << (exponent_bits_ - 1)) - 1;
    const auto exponent = static_cast<int>(bits >> fraction_bits_);
    const double fraction = bits & ((1u << fraction_bits_) - 1);
    const double implicit = exponent == 0 ? 0 : 1u << fraction_bits_;
    return std::ldexp(implicit + fraction, std::max(exponent, 1) - bias - static_cast<int>(fraction_bits_));
  }

  unsigned exponent_bits_, fraction_bits_;
  std::vector<double> magnitudes_;  ///< by encoding
};

/// The same for binary32, whose neighbours come from nextafter.
inline float round_to_float(const ExactSum& exact) {
  const ExactSum x = exact.magnitude();
  const float sign = exact.negative() ? -1.0f : 1.0f;
  const double limit = std::ldexp(1.0, 128);
  float low = static_cast<float>(std::min(x.value, 0x1.fffffep127));
  if (x.compare(low) < 0) low = std::nextafter(low, -INFINITY);
  const float high = std::nextafter(low, INFINITY);
  const double high_value = std::isinf(high) ? limit : high;
  std::uint32_t low_bits;
  std::memcpy(&low_bits, &low, sizeof low_bits);
  const int side = x.compare((double{low} + high_value) / 2);
  return sign * (side > 0 || (side == 0 && low_bits % 2 == 1) ? high : low);
}

}  // namespace t3vp
