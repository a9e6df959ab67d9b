#include "nic/memory_regions.h"

#include <fmt/format.h>

#include "protocol/own_address.h"

namespace t3vp::nic {

MemoryRegions::MemoryRegions(registers::Nic& registers, NicStatus& status, DataInitiatorBase& memory,
                             std::uint32_t places)
    : registers_(registers), status_(status), memory_(memory), table_(places) {
  registers_.command.on_write([this] { command(); });
  registers_.regions.on_refresh([this] { registers_.regions.set(table_.used()); });
}

void MemoryRegions::command() {
  using Action = registers::Nic::Command::Action;
  registers_.status.code.set(Status::ok);
  if (registers_.command.action() == Action::register_region) add();
  if (registers_.command.action() == Action::withdraw) withdraw();
}

void MemoryRegions::add() {
  const std::uint64_t base = registers_.region_base.value(), bytes = registers_.region_bytes.value();
  const auto refuse = [&](Status status, const std::string& text) {
    registers_.status.code.set(status);
    status_.log(status, base, text);
  };
  if (bytes == 0 || base + bytes - 1 < base)
    return refuse(Status::invalid_argument,
                  fmt::format("region of {:#x} bytes at {:#x}: 1 byte or more, and no wrap, expected", bytes, base));
  if (!memory_.holds(base, bytes))
    return refuse(Status::bad_address, fmt::format("region of {:#x} bytes at {:#x}: memory of one GPU expected{}",
                                                   bytes, base, number_hint(registers_.number.value(), base)));
  if (table_.is_full())
    return refuse(Status::table_full, fmt::format("all {} places for regions are in use", table_.places()));
  const auto& rights = registers_.region_access;
  registers_.key.set(table_.add(base, bytes,
                                {rights.local_write() != 0, rights.remote_read() != 0, rights.remote_write() != 0,
                                 rights.remote_atomic() != 0, rights.remote_accumulate() != 0}));
}

void MemoryRegions::withdraw() {
  const auto key = static_cast<std::uint32_t>(registers_.key.value());
  if (table_.withdraw(key)) return;
  registers_.status.code.set(Status::invalid_argument);
  status_.log(Status::invalid_argument, 0,
              fmt::format("key {:#x} is withdrawn: one of a registered region expected", key));
}

}  // namespace t3vp::nic
