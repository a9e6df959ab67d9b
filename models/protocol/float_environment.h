// The floating-point environment of the simulating machine: the rounding mode, the treatment of denormal numbers, and
// the exceptions that raise a signal. It belongs to the thread, and so to a program as well as to the platform. Every
// entry of a program's code starts with the standard environment. The caller of such code restores it before the
// platform computes anything.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

#include <cstdint>

namespace t3vp {

/// The standard one, as every process begins, or another.
class FloatEnvironment {
 public:
  static FloatEnvironment current();
  void use() const;
  bool is_standard() const;

 private:
#if defined(__x86_64__)
  std::uint32_t vectors_ = 0x1F80;  ///< MXCSR
  std::uint16_t x87_ = 0x037F;      ///< of long double
#elif defined(__aarch64__)
  std::uint64_t control_ = 0;  ///< FPCR
#else
  int rounding_ = FE_TONEAREST;  ///< all that is portable
#endif
};

#if defined(__x86_64__)
inline FloatEnvironment FloatEnvironment::current() {
  FloatEnvironment now;
  now.vectors_ = _mm_getcsr();
  asm volatile("fnstcw %0" : "=m"(now.x87_));
  return now;
}
inline void FloatEnvironment::use() const {
  _mm_setcsr(vectors_);
  asm volatile("fnclex\n\tfldcw %0" : : "m"(x87_));  // an exception of before would come now
}
inline bool FloatEnvironment::is_standard() const {
  constexpr std::uint32_t seen = 0x3F;  // exceptions that there have been: every sum may add to them
  const FloatEnvironment standard;
  return (vectors_ & ~seen) == standard.vectors_ && x87_ == standard.x87_;
}
#elif defined(__aarch64__)
inline FloatEnvironment FloatEnvironment::current() {
  FloatEnvironment now;
  asm volatile("mrs %0, fpcr" : "=r"(now.control_));
  return now;
}
inline void FloatEnvironment::use() const { asm volatile("msr fpcr, %0" : : "r"(control_)); }
inline bool FloatEnvironment::is_standard() const { return control_ == 0; }
#else
inline FloatEnvironment FloatEnvironment::current() {
  FloatEnvironment now;
  now.rounding_ = std::fegetround();
  return now;
}
inline void FloatEnvironment::use() const { std::fesetround(rounding_); }
inline bool FloatEnvironment::is_standard() const { return rounding_ == FE_TONEAREST; }
#endif

/// Puts the standard environment in force behind a program's code; returns whether that has left another one.
inline bool restore_floats() {
  if (FloatEnvironment::current().is_standard()) return false;
  FloatEnvironment().use();
  return true;
}

}  // namespace t3vp
