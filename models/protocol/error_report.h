// A block's reports to the error log of its GPU: a mistake of guest software, or that the block cannot continue.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

#include "registers/status.h"

namespace t3vp {

/// One entry of the error log. Codes are those of the driver's t3_status.
struct ErrorRecord {
  std::uint32_t code = 0;     ///< t3_status value
  std::uint64_t address = 0;  ///< the access or range that was wrong
  std::string text;           ///< what was found and what was expected, for people
};

/// Codes of malformed accesses that the protocol refuses by itself.
inline constexpr auto malformed_argument = static_cast<std::uint32_t>(Status::invalid_argument),
                      malformed_address = static_cast<std::uint32_t>(Status::bad_address),
                      malformed_access = static_cast<std::uint32_t>(Status::bad_access);

/// Offered by the error log, required by every block through an optional port.
class ErrorReport : public virtual sc_core::sc_interface {
 public:
  virtual void report(const char* block, const ErrorRecord& record) = 0;
};

using ErrorPort = sc_core::sc_port<ErrorReport, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

}  // namespace t3vp
