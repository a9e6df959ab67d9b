#include "compute/packet_ring.h"

#include <fmt/format.h>

#include "protocol/address_map.h"
#include "protocol/own_address.h"

namespace t3vp::compute {
namespace {
constexpr std::uint32_t most_packets = 256;
}  // namespace

void PacketRing::check_base() {
  if (base() % entry_bytes != 0)
    registers_.refuse(Status::unaligned, fmt::format("a multiple of {} expected", entry_bytes));
  else
    check();
}

void PacketRing::check_entries() {
  if (entries() == 0 || entries() > most_packets || (entries() & (entries() - 1)) != 0)
    registers_.refuse(Status::invalid_argument, fmt::format("a power of two up to {} expected", most_packets));
  else if (base() != 0 || announced_ != 0)
    check();
}

/// Entries may be written before base, which is 0 after a reset, in the memory of GPU 0.
void PacketRing::check() {
  if (announced_ != 0 && (base() != base_ || entries() != entries_))
    return registers_.refuse(
        Status::busy, fmt::format("packets have been announced: the ring of {} entries at {:#x} stays until a reset",
                                  entries_, base_));
  const std::uint64_t size = entries() * entry_bytes;
  const std::uint64_t begin = address_map::on_gpu(gpu_, 0), end = begin + memory_bytes_;
  if (base() < begin || base() >= end || size > end - base())
    registers_.refuse(Status::bad_address,
                      fmt::format("a ring in the memory of GPU {}, {:#x} to {:#x}, expected, found {} packets of {} "
                                  "bytes from {:#x} on{}",
                                  gpu_, begin, end - 1, entries(), entry_bytes, base(), number_hint(gpu_, base())));
}

bool PacketRing::announce(const std::function<std::string(const OutputRange&)>& used_by) {
  const auto refuse = [this](Status status, const std::string& text) {
    registers_.refuse(status, text);
    return false;
  };
  if (entries() == 0)
    return refuse(Status::invalid_argument, "a ring expected before it: entries is 0, base and entries come first");
  const std::uint64_t written = registers_.doorbell[queue_].value();
  if (written <= announced_ || written - completed_ > entries())
    return refuse(Status::invalid_argument,
                  fmt::format("{} to {} expected: {} packets have been announced, {} have ended, the ring has {} "
                              "entries",
                              announced_ + 1, completed_ + entries(), announced_, completed_, entries()));
  if (announced_ == 0) {
    const OutputRange ring{base(), base() + entries() * entry_bytes};
    if (const std::string used = used_by(ring); !used.empty())
      return refuse(Status::busy, fmt::format("the ring is at {:#x} to {:#x}: {}, and no other queue's is", ring.begin,
                                              ring.end - 1, used));
  }
  times_.insert(times_.end(), written - announced_, now());
  announced_ = written;
  base_ = base();
  entries_ = entries();
  return true;
}

std::uint64_t PacketRing::packet_address() const { return base() + completed_ % entries() * entry_bytes; }

void PacketRing::complete() {
  times_.pop_front();
  ++completed_;
}

void PacketRing::reset() {
  times_.clear();
  announced_ = completed_ = abort_until_ = 0;
}

OutputRange PacketRing::range() const {
  return announced_ == 0 ? OutputRange{} : OutputRange{base_, base_ + entries_ * entry_bytes};
}

}  // namespace t3vp::compute
