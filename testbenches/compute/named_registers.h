// Accesses a block's registers over its socket by their names in the description.
#pragma once

#include <cstring>
#include <stdexcept>

#include "registers/register_driver.h"

namespace t3vp {

class NamedRegisters {
 public:
  /// The driver's module is named after the block.
  explicit NamedRegisters(RegisterBlock& block)
      : driver((std::string(block.basename()) + "_driver").c_str()), block_(block) {
    driver.drive(block);
  }

  tlm::tlm_response_status write(const char* name, std::uint64_t value) {
    const RegisterDescription& r = find(name);
    return driver.write(r.offset, r.bytes, value);
  }
  std::uint64_t read(const char* name) {
    const RegisterDescription& r = find(name);
    return driver.read(r.offset, r.bytes).value;
  }

  RegisterDriver driver;

 private:
  const RegisterDescription& find(const char* name) const {
    for (const RegisterDescription& r : block_.description().registers)
      if (std::strcmp(r.name, name) == 0) return r;
    throw std::invalid_argument(name);
  }
  RegisterBlock& block_;
};

}  // namespace t3vp
