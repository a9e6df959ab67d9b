// The error log and the interrupt line: what software sees of errors that no completion reports.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "registers/nic.h"
#include "registers/status.h"

namespace t3vp::nic {

class NicStatus {
 public:
  /// `line_changed`: the register of the interrupt line has another value.
  NicStatus(registers::Nic& registers, std::uint16_t number, std::function<void()> line_changed)
      : registers_(registers), number_(number), line_changed_(std::move(line_changed)) {}

  void log(Status status, std::uint64_t address, const std::string& text) {
    registers_.report(status, address, fmt::format("NIC {}: {}", number_, text));
  }
  void raise_error() {
    ++errors_;
    registers_.interrupt.error.set(1);
    line_changed_();
  }
  /// An armed completion queue has an entry.
  void raise_completion() {
    registers_.interrupt.completion.set(1);
    line_changed_();
  }
  std::uint64_t errors() const { return errors_; }

 private:
  registers::Nic& registers_;
  std::uint16_t number_;
  std::function<void()> line_changed_;
  std::uint64_t errors_ = 0;  ///< interrupts raised
};

}  // namespace t3vp::nic
