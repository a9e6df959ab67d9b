#include "nic/completion_queues.h"

#include <fmt/format.h>

namespace t3vp::nic {
namespace {

constexpr std::uint32_t bit(std::size_t queue) { return std::uint32_t{1} << queue; }

}  // namespace

CompletionQueues::CompletionQueues(registers::Nic& registers, IoLink& io) : registers_(registers), io_(io) {
  registers_.completion_base.on_write([this](std::size_t queue) { place(queue); });
  registers_.consumed.on_write([this](std::size_t queue) { consume(queue); });
  registers_.completion_entries.on_write([this](std::size_t queue) {
    const std::uint64_t entries = registers_.completion_entries[queue].value();
    if ((entries & (entries - 1)) != 0) return registers_.refuse(Status::bad_value, "a power of two or 0 expected");
    if (const std::string user = user_of(queue); !user.empty()) registers_.refuse(Status::busy, user);
  });
}

void CompletionQueues::place(std::size_t queue) {
  if (registers_.completion_base[queue].value() % T3_NIC_COMPLETION_ENTRY_BYTES != 0)
    return registers_.refuse(Status::unaligned, "a multiple of 32 expected");
  if (const std::string user = user_of(queue); !user.empty()) return registers_.refuse(Status::busy, user);
  registers_.consumed[queue].set(0);
  registers_.produced[queue].set(0);
  registers_.overrun.set(registers_.overrun.value() & ~bit(queue));
}

Refusal CompletionQueues::validate_consumed(std::uint32_t queue, std::uint32_t consumed) const {
  const auto produced = static_cast<std::uint32_t>(registers_.produced[queue].value());
  if (produced - consumed <= registers_.completion_entries[queue].value()) return {};
  return refused(Status::bad_value,
                 "at most the {} entries that were written, and not fewer than these less those of the ring, expected",
                 produced);
}

void CompletionQueues::consume(std::size_t queue) {
  const auto consumed = static_cast<std::uint32_t>(registers_.consumed[queue].value());
  if (const Refusal found = validate_consumed(static_cast<std::uint32_t>(queue), consumed))
    registers_.refuse(found.status, found.text);
}

bool CompletionQueues::add(std::uint32_t queue, t3_nic_completion entry) {
  const std::uint64_t entries = registers_.completion_entries[queue].value();
  const auto produced = static_cast<std::uint32_t>(registers_.produced[queue].value());
  const auto consumed = static_cast<std::uint32_t>(registers_.consumed[queue].value());
  if ((registers_.overrun.value() & bit(queue)) != 0) return false;
  if (produced - consumed >= entries) {
    registers_.overrun.set(registers_.overrun.value() | bit(queue));
    registers_.report(Status::capacity, registers_.completion_base[queue].value(),
                      fmt::format("completion queue {} overruns: {} of its {} entries are not consumed; the entry of "
                                  "queue pair {} is lost, as are all that follow",
                                  queue, produced - consumed, entries, entry.queue_pair));
    return false;
  }
  entry.phase = (produced / entries & 1) == 0 ? 1 : 0;
  unsigned char bytes[T3_NIC_COMPLETION_BYTES];
  t3_nic_completion_to(&entry, bytes);
  Purpose purpose;
  purpose.what = Purpose::completion;
  purpose.queue = queue;
  const std::uint64_t address = registers_.completion_base[queue].value() + produced % entries * sizeof bytes;
  registers_.produced[queue].set(produced + 1);
  io_.store(address, bytes, sizeof bytes, purpose);
  ++stored_;
  return true;
}

bool CompletionQueues::has_arrived(std::uint32_t queue) {
  registers_.event.set(registers_.event.value() | bit(queue));
  if ((registers_.arm.value() & bit(queue)) == 0) return false;
  registers_.arm.set(registers_.arm.value() & ~bit(queue));
  return true;
}

}  // namespace t3vp::nic
