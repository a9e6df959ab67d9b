// Completion queues: entries with a phase, room by software's count, and whom an entry interrupts.
#pragma once

#include <functional>
#include <string>

#include "nic/io_link.h"
#include "protocol/refusal.h"
#include "registers/nic.h"
#include "t3/nic_completion.h"

namespace t3vp::nic {

class CompletionQueues {
 public:
  /// A text that names the user of the queue and what must happen before the queue can be changed. It is empty when
  /// there is no user.
  std::function<std::string(std::size_t queue)> user_of;

  CompletionQueues(registers::Nic& registers, IoLink& io);

  bool is_there(std::uint32_t queue) const { return registers_.completion_entries[queue].value() != 0; }
  /// Stores the entry with the phase of its round. False when the queue has no room: the entry is lost.
  bool add(std::uint32_t queue, t3_nic_completion entry);
  /// Whether so many entries may have been taken.
  Refusal validate_consumed(std::uint32_t queue, std::uint32_t consumed) const;
  /// The entry is in memory: true when it raises the line.
  bool has_arrived(std::uint32_t queue);
  /// Entries, those of receive entries too.
  std::uint64_t stored() const { return stored_; }

 private:
  void place(std::size_t queue);
  void consume(std::size_t queue);

  registers::Nic& registers_;
  IoLink& io_;
  std::uint64_t stored_ = 0;
};

}  // namespace t3vp::nic
