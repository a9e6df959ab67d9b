// The range of memory that is zero until it is written: commands of near_memory, and what accesses find there.
#include <fmt/format.h>

#include <array>

#include "memory/memory_controller.h"
#include "protocol/address_map.h"
#include "protocol/own_address.h"

namespace t3vp::memory {

void MemoryController::near_memory_command() {
  using Action = registers::NearMemory::Command::Action;
  const Action action = near_memory.command.action();
  if (action == Action::arm) arm();
  if (action == Action::disarm) disarm();
}

void MemoryController::refuse_command(Status status, std::uint64_t address, const std::string& text) {
  near_memory.status.code.set(status);
  near_memory.report(status, address, text);
}

std::string MemoryController::use_of(const OutputRange& range) const {
  std::string found = tracker.use_of(range);
  for (int i = 0; i < users.size() && found.empty(); ++i) found = users[i]->use_of(range);
  return found;
}

void MemoryController::arm() {
  const std::uint64_t base = near_memory.valid_base.value(), bytes = near_memory.valid_bytes.value(),
                      local = address_map::local_of(base);
  const auto refuse = [&](Status status, const std::string& text) { refuse_command(status, base, text); };
  if (base % ValidBits::sector_bytes != 0 || bytes % ValidBits::sector_bytes != 0)
    return refuse(Status::unaligned,
                  fmt::format("{} bytes at {:#x}: multiples of {} expected", bytes, base, ValidBits::sector_bytes));
  if (address_map::gpu_of(base) != gpu_ || bytes == 0 || bytes > parameters_.capacity_bytes ||
      local > parameters_.capacity_bytes - bytes)
    return refuse(Status::bad_address,
                  fmt::format("{} bytes at {:#x}: local HBM expected{}", bytes, base, number_hint(gpu_, base)));
  if (ValidBits::storage_bytes(bytes) > parameters_.valid_bits_bytes)
    return refuse(Status::table_full, fmt::format("{} bytes need {} bytes of valid bits, and there are {}", bytes,
                                                  ValidBits::storage_bytes(bytes), parameters_.valid_bits_bytes));
  const bool is_same = local == valid_bits_.begin() && local + bytes == valid_bits_.end();
  if (valid_bits_.clear() != 0 && !is_same)
    return refuse(Status::busy, fmt::format("{} bytes of the range armed before are not written yet",
                                            valid_bits_.clear() * ValidBits::sector_bytes));
  if (const std::string found = use_of({base, base + bytes}); !found.empty())
    return refuse(Status::busy, fmt::format("{} bytes at {:#x}: {}, and nothing is zeroed before that has ended", bytes,
                                            base, found));
  valid_bits_.arm(local, bytes);
  most_valid_bits_ = std::max(most_valid_bits_, ValidBits::storage_bytes(bytes));
  plain->invalidate_direct_mem_ptr(base, base + bytes - 1);
  near_memory.status.code.set(Status::ok);
}

/// Ends the armed range. Refused while bytes are not written and another user accesses the range: it would read zeros
/// first and the memory's contents afterwards.
void MemoryController::disarm() {
  const std::uint64_t base = address_map::on_gpu(gpu_, valid_bits_.begin()),
                      bytes = valid_bits_.end() - valid_bits_.begin(),
                      missing = valid_bits_.clear() * ValidBits::sector_bytes;
  if (const std::string found = missing == 0 ? "" : use_of({base, base + bytes}); !found.empty())
    return refuse_command(Status::busy, base,
                          fmt::format("{} of the {} bytes at {:#x} are not written yet: {}, and they stay zero until "
                                      "that has ended",
                                      missing, bytes, base, found));
  valid_bits_.disarm();
  near_memory.status.code.set(Status::ok);
}

/// Writes zeros to bytes that are not valid before an access reads them.
void MemoryController::find_zeros(std::uint64_t address, std::uint64_t bytes) {
  static constexpr std::array<unsigned char, ValidBits::sector_bytes> zeros{};
  valid_bits_.for_each_clear(address, bytes,
                             [this](std::uint64_t at) { store_.write(at, zeros.data(), zeros.size()); });
}

/// Returns how many accesses from `at` on are alike: all valid, or all not valid.
std::uint64_t MemoryController::uniform(std::uint64_t at, std::uint64_t part, std::uint64_t begin, std::uint64_t end,
                                        bool& first) const {
  const std::uint64_t access_bytes = parameters_.dram.geometry.access_bytes;
  const auto is_first = [&](std::uint64_t access) {
    const std::uint64_t from = std::max(access, begin);
    return valid_bits_.is_clear(from, std::min(access + access_bytes, end) - from);
  };
  first = is_first(at);
  std::uint64_t alike = access_bytes;
  while (alike < part && is_first(at + alike) == first) alike += access_bytes;
  return alike;
}

}  // namespace t3vp::memory
