// The engine's status for software: the result of a command, the first failed transfer, and the interrupts.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "registers/dma.h"
#include "registers/status.h"

namespace t3vp::dma {

class DmaStatus {
 public:
  /// `lines_changed`: the registers of the interrupt lines have another value.
  DmaStatus(registers::Dma& registers, std::function<void()> lines_changed)
      : registers_(registers), lines_changed_(std::move(lines_changed)) {}

  void accept() { registers_.status.code.set(Status::ok); }
  /// The command has not been taken.
  void refuse(Status status, std::uint64_t address, const std::string& text) {
    registers_.status.code.set(status);
    registers_.report(status, address, text);
  }
  /// A transfer has failed. The code of the first one stays until the table is empty.
  void fail(Status status, std::uint64_t address, const std::string& text) {
    registers_.report(status, address, text);
    if (registers_.status.transfer() == Status::ok) registers_.status.transfer.set(status);
    registers_.interrupt.error.set(1);
    lines_changed_();
  }
  void table_is_empty() { registers_.status.transfer.set(Status::ok); }
  /// All tiles of a command have arrived.
  void command_is_complete() {
    registers_.interrupt.complete.set(1);
    lines_changed_();
  }
  /// A piece of the fill was refused.
  void fill_failed(Status status) { registers_.status.code.set(status); }
  void copy_ended() {
    registers_.interrupt.copied.set(1);
    lines_changed_();
  }
  void fill_ended() {
    registers_.interrupt.filled.set(1);
    lines_changed_();
  }

 private:
  registers::Dma& registers_;
  std::function<void()> lines_changed_;
};

}  // namespace t3vp::dma
