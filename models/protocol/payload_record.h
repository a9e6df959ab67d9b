// A checker's copy of a payload, which shows changes. Used by protocol_checker and control_checker.
#pragma once

#include <tlm>

#include <cstdint>

namespace t3vp {

/// The fields of a generic payload that must not change while an access is in flight, and the bytes of a write.
class PayloadRecord {
 public:
  explicit PayloadRecord(const tlm::tlm_generic_payload& transaction);

  /// The rule that was broken since; null when nothing was changed.
  const char* change(const tlm::tlm_generic_payload& transaction) const;
  std::uint64_t address() const { return address_; }

 private:
  tlm::tlm_command command_;
  std::uint64_t address_;
  const unsigned char* data_;
  const unsigned char* byte_enables_;
  unsigned length_, streaming_width_, byte_enable_length_;
  std::uint64_t written_;  ///< hash of a write's bytes
};

}  // namespace t3vp
