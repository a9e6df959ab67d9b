#include "compute/gate_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "registers/signals.h"
#include "t3/address.h"

namespace t3vp::compute {

std::string Gate::text() const {
  return fmt::format("gate of workgroups {} to {}", first, std::uint64_t{first} + workgroups - 1);
}

Gate GateTable::staged() const {
  const auto word = [](const auto& item) { return static_cast<std::uint32_t>(item.value()); };
  return {word(registers_.gate_queue),      registers_.gate_packet.value(), word(registers_.gate_first),
          word(registers_.gate_workgroups), word(registers_.gate_counter),  registers_.gate_value.value()};
}

void GateTable::command(std::uint64_t announced) {
  using Action = registers::KernelQueue::GateCommand::Action;
  switch (registers_.gate_command.action()) {
    case Action::add:
      return add(announced);
    case Action::remove:
      return remove(announced);
    case Action::none:
      break;
  }
}

void GateTable::refuse(Status status, const std::string& text) {
  registers_.gate_status.code.set(status);
  registers_.report(status, 0, text);
}

void GateTable::add(std::uint64_t announced) {
  const Gate gate = staged();
  if (gate.queue >= registers::KernelQueue::base_count)
    return refuse(Status::invalid_argument, fmt::format("{} of queue {}: a queue below {} expected", gate.text(),
                                                        gate.queue, registers::KernelQueue::base_count));
  if (gate.workgroups == 0) return refuse(Status::invalid_argument, "a gate of 0 workgroups: 1 or more expected");
  if (gate.counter == T3_SIGNAL_BARRIER || gate.counter >= registers::Signals::value_count)
    return refuse(Status::invalid_argument,
                  fmt::format("{} waits for counter {}: one below {} that is not the barrier's, {}, expected",
                              gate.text(), gate.counter, registers::Signals::value_count, T3_SIGNAL_BARRIER));
  if (gate.packet <= announced)
    return refuse(Status::busy, fmt::format("{} of packet {} of queue {}: a packet behind the {} that have been "
                                            "announced expected",
                                            gate.text(), gate.packet, gate.queue, announced));
  if (gates_.size() == capacity) return refuse(Status::table_full, fmt::format("all {} gates are in use", capacity));
  gates_.push_back(gate);
  count();
  registers_.gate_status.code.set(Status::ok);
}

/// Gates of announced packets stay.
void GateTable::remove(std::uint64_t announced) {
  const std::uint64_t queue = registers_.gate_queue.value();
  gates_.erase(std::remove_if(gates_.begin(), gates_.end(),
                              [&](const Gate& gate) { return gate.queue == queue && gate.packet > announced; }),
               gates_.end());
  count();
  registers_.gate_status.code.set(Status::ok);
}

std::vector<Gate> GateTable::take(std::uint32_t queue, std::uint64_t packet) {
  const auto others = std::stable_partition(
      gates_.begin(), gates_.end(), [&](const Gate& gate) { return gate.queue != queue || gate.packet != packet; });
  std::vector<Gate> taken(others, gates_.end());
  gates_.erase(others, gates_.end());
  count();
  return taken;
}

void GateTable::reset() {
  gates_.clear();
  registers_.gate_capacity.set(capacity);
}

void GateTable::count() { registers_.gates.set(gates_.size()); }

std::vector<std::string> GateTable::contents() const {
  std::vector<std::string> lines;
  for (const Gate& gate : gates_)
    lines.push_back(fmt::format("{} of packet {} of queue {}: counter {} to reach {}", gate.text(), gate.packet,
                                gate.queue, gate.counter, gate.value));
  return lines;
}

}  // namespace t3vp::compute
