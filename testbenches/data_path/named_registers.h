// Reads and writes a register block through its socket by the names in its description.
#pragma once

#include <stdexcept>
#include <string>

#include "registers/register_driver.h"

namespace t3vp {

class NamedRegisters : public RegisterDriver {
 public:
  NamedRegisters(const sc_core::sc_module_name& name, RegisterBlock& block)
      : RegisterDriver(name), description_(block.description()) {
    drive(block);
  }
  /// The module is named after the block.
  explicit NamedRegisters(RegisterBlock& block)
      : NamedRegisters((std::string(block.basename()) + "_driver").c_str(), block) {}

  std::uint64_t operator[](const std::string& name) { return element(name, 0); }
  std::uint64_t element(const std::string& name, std::size_t i) {
    const RegisterDescription& d = find(name);
    return read(d.offset + i * d.stride, d.bytes).value;
  }
  tlm::tlm_response_status set(const std::string& name, std::uint64_t value, std::size_t i = 0) {
    const RegisterDescription& d = find(name);
    return write(d.offset + i * d.stride, d.bytes, value);
  }
  /// The code that the last command left in the status register.
  Status command_status() { return static_cast<Status>((*this)["status"] & 0xFF); }

 private:
  const RegisterDescription& find(const std::string& name) const {
    for (const RegisterDescription& d : description_.registers)
      if (name == d.name) return d;
    throw std::invalid_argument("no register " + name);
  }
  const BlockDescription& description_;
};

}  // namespace t3vp
