/* Numbers in memory, where they are little endian whatever the host is. */
#ifndef T3_LITTLE_ENDIAN_H
#define T3_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

static inline uint64_t t3_number_at(const unsigned char* bytes, uint32_t size) {
  uint64_t value = 0;
  for (uint32_t i = size; i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

static inline void t3_put_number(unsigned char* bytes, uint32_t size, uint64_t value) {
  for (uint32_t i = 0; i < size; ++i) bytes[i] = value >> 8 * i & 0xFF;
}

static inline float t3_float_at(const unsigned char* bytes) {
  const uint32_t bits = t3_number_at(bytes, 4) & UINT32_MAX;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline void t3_put_float(unsigned char* bytes, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  t3_put_number(bytes, 4, bits);
}

static inline double t3_double_at(const unsigned char* bytes) {
  const uint64_t bits = t3_number_at(bytes, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline void t3_put_double(unsigned char* bytes, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  t3_put_number(bytes, 8, bits);
}

#endif
