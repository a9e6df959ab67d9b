#include "interconnect/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "registers/status.h"

namespace t3vp::interconnect {
namespace {

constexpr std::uint64_t counter_bytes = 8;

/// Number of the counter that a block-relative offset names in an array that begins at `base`; `count` if none.
std::size_t index_of(std::uint64_t offset, std::uint64_t base, std::size_t count) {
  if (offset < base || offset % counter_bytes != 0) return count;
  return std::min<std::uint64_t>((offset - base) / counter_bytes, count);
}

/// A signal for each workgroup and step.
bool differ_in_signals(const RingSignal& found, const RingSignal& expected) {
  return found.gpus != expected.gpus || found.workgroups != expected.workgroups;
}

std::string text_of_another_life(const RingSignal& signal) {
  return fmt::format(
      "GPU {} has been reset since it first signalled here, and this GPU has not: found a signal after its reset, "
      "expected a reset of all GPUs that signal each other",
      signal.sender);
}

std::uint64_t offset_in_block(std::uint64_t address) {
  return address_map::local_of(address) - address_map::block_base(address_map::Block::signals);
}

}  // namespace

Signals::Signals(const sc_core::sc_module_name& name, std::uint16_t gpu) : sc_module(name), gpu_(gpu) {
  points_.resize(registers.value.size());
  compute.report_to(registers.errors, registers.description().name);
  peers.report_to(registers.errors, registers.description().name);
  registers.value.on_write([this](std::size_t i) {
    note_other_change(i);
    note_program(i);
    changed(i);
  });
  registers.add.on_write([this](std::size_t i) {
    note_other_change(i);
    note_program(i);
    add(i, registers.add[i].value());
  });
  registers.interrupt.on_write([this] { interrupt.write(registers.interrupt.changed() != 0); });
  registers.on_reset([this] {
    interrupt.write(false);
    announced_.clear();
    senders_.clear();
    reset_at_ = now();
    give_up_waits(~0u);
  });

  SC_HAS_PROCESS(Signals);
  SC_METHOD(withdraw_waits);
  sensitive << withdraw;
  dont_initialize();
}

Signals::~Signals() = default;

void Signals::compute_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (extension_of(transaction).operation ==
      Operation::store) {  // may release waits, which are not answered in its call
    transaction.acquire();
    return own_stores_.push(now() + delay, &transaction);
  }
  const std::size_t index =
      index_of(offset_in_block(transaction.get_address()), registers::Signals::value_offset, registers.value.size());
  if (extension_of(transaction).operation != Operation::wait || index == registers.value.size()) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    registers.report(Status::bad_address, transaction.get_address(),
                     fmt::format("compute units found neither memory nor a counter to wait for at {:#x}",
                                 transaction.get_address()));
    return compute.respond(transaction, delay);
  }
  transaction.acquire();
  waits_.push_back({index, &transaction, now() + delay});
  withdraw_waits();
  answer_waits(index);
}

/// The answer says nothing about the counter; whoever has withdrawn the wait does not look at it.
void Signals::give_up_waits(std::uint32_t queues) {
  if (queues == 0) return;
  const auto is_withdrawn = [queues](const Wait& wait) {
    return (queues >> extension_of(*wait.transaction).queue & 1) != 0;
  };
  const auto first = std::stable_partition(waits_.begin(), waits_.end(), std::not_fn(is_withdrawn));
  const std::vector<Wait> withdrawn(first, waits_.end());
  waits_.erase(first, waits_.end());
  for (const Wait& wait : withdrawn) {
    wait.transaction->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    compute.respond(*wait.transaction, std::max(wait.arrival, now()) - now());
    wait.transaction->release();
  }
}

void Signals::peer_store(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  transaction.acquire();
  arrivals_.push(now() + delay, &transaction);
}

void Signals::take_peer_stores() {
  while (arrivals_.ready()) {
    tlm::tlm_generic_payload& transaction = *arrivals_.pop();
    deliver(transaction, "peers");
    peers.respond(transaction, 0);
    transaction.release();
  }
  arrivals_.arm();
}

void Signals::take_own_stores() {
  while (own_stores_.ready()) {
    tlm::tlm_generic_payload& transaction = *own_stores_.pop();
    deliver(transaction, "compute units");
    compute.respond(transaction, 0);
    transaction.release();
  }
  own_stores_.arm();
}

void Signals::deliver(tlm::tlm_generic_payload& transaction, const char* who) {
  count_store(transaction);
  if (registers.is_observed()) tell(transaction, who);
}

void Signals::tell(tlm::tlm_generic_payload& transaction, const char* who) const {
  RegisterAccess told;
  told.who = who;
  const auto& ring = extension_of(transaction).ring;
  if (ring != nullptr) told.whose = ring->sender;
  told.address = transaction.get_address();
  told.bytes = transaction.get_data_length();
  told.is_refused = !transaction.is_response_ok();
  if (told.bytes == counter_bytes && transaction.get_data_ptr() != nullptr)
    std::memcpy(&told.value, transaction.get_data_ptr(), counter_bytes);
  registers.tell_write(told);
}

void Signals::count_store(tlm::tlm_generic_payload& transaction) {
  const std::size_t index =
      index_of(offset_in_block(transaction.get_address()), registers::Signals::add_offset, registers.add.size());
  const bool counts = index < registers.add.size() && extension_of(transaction).operation == Operation::store &&
                      transaction.get_data_length() == counter_bytes && transaction.get_data_ptr() != nullptr;
  if (!counts) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return registers.report(
        Status::bad_address, transaction.get_address(),
        describe(transaction) + ": peers and compute units may only write the 8 bytes of signals.add[i]");
  }
  const auto& ring = extension_of(transaction).ring;
  const bool is_meant_here = extension_of(transaction).made >= reset_at_;
  const bool is_known = ring == nullptr || !is_meant_here || note_sender(*ring, transaction.get_address());
  if (is_of_an_earlier_generation(extension_of(transaction), reset_at_))
    return refuse_of_an_earlier_generation(transaction);
  std::uint64_t value = 0;
  std::memcpy(&value, transaction.get_data_ptr(), sizeof value);
  if (!is_known && !ring->is_of_kernel()) return refuse_of_an_earlier_generation(transaction);
  if (ring != nullptr && ring->is_of_kernel())
    announced_.push_back({index, registers.value[index].value() + value, ring, extension_of(transaction).order});
  else
    note_other_change(index);
  note_order(index, extension_of(transaction).order);
  add(index, value);
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

void Signals::count(std::uint32_t counter, OrderPoint point) {
  note_other_change(counter);
  note_order(counter, point);
  add(counter, 1);
}

void Signals::note_program(std::size_t index) {
  if (order_ != nullptr) note_order(index, order_->point_of(gpu_, OrderObserver::program));
}

/// Who sees the counter from now on is behind the point.
void Signals::note_order(std::size_t index, OrderPoint point) {
  if (order_ == nullptr) return;
  points_[index] = order_->join(points_[index], point);
  const std::uint64_t block = address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::signals));
  order_->show(block + registers::Signals::value_offset + counter_bytes * index, point);
}

bool Signals::is_of_its_first_life(const RingSignal& signal) const {
  return std::all_of(senders_.begin(), senders_.end(), [&](const Sender& sender) {
    return sender.gpu != signal.sender || sender.generation == signal.generation;
  });
}

/// Returns false when the sender has been reset since its first signal here: its signals no longer continue the earlier
/// ones. A wait that takes a ring kernel's signal is notified; firmware's signals do not count.
bool Signals::note_sender(const RingSignal& signal, std::uint64_t address) {
  const auto known =
      std::find_if(senders_.begin(), senders_.end(), [&](const Sender& sender) { return sender.gpu == signal.sender; });
  if (known == senders_.end()) {
    senders_.push_back({signal.sender, signal.generation, false});
    return true;
  }
  if (known->generation == signal.generation) return true;
  registers.reset_peer.set(std::uint32_t{signal.sender} + 1);
  registers.interrupt.changed.set(1);
  interrupt.write(true);
  if (!std::exchange(known->is_told, true))
    registers.report(Status::peer_failed, address, text_of_another_life(signal));
  return false;
}

void Signals::add(std::size_t index, std::uint64_t value) {
  registers.value[index].set(registers.value[index].value() + value);
  changed(index);
}

void Signals::changed(std::size_t index) {
  answer_waits(index);
  if (registers.watch.index() == index) {
    registers.interrupt.changed.set(1);
    interrupt.write(true);
  }
}

void Signals::answer_waits(std::size_t index) {
  for (std::size_t i = 0; i < waits_.size();) {
    const Wait wait = waits_[i];
    if (wait.index != index || !is_fulfilled(wait)) {
      ++i;
      continue;
    }
    waits_.erase(waits_.begin() + static_cast<std::ptrdiff_t>(i));
    answer(wait);
  }
}

/// A ring kernel takes one signal after the other, whatever the counter is. It is notified when something else has
/// changed the counter, or when the packet's signal_epoch is not the neighbour's, and stays in step.
bool Signals::is_fulfilled(const Wait& wait) const {
  const DataExtension& extension = extension_of(*wait.transaction);
  if (extension.ring == nullptr) return registers.value[wait.index].value() >= extension.threshold;
  return std::any_of(announced_.begin(), announced_.end(),
                     [&](const Announced& announced) { return announced.index == wait.index; });
}

void Signals::answer(const Wait& wait) {
  DataExtension& extension = extension_of(*wait.transaction);
  Refusal found;
  OrderPoint seen = points_[wait.index];
  if (extension.ring != nullptr) {
    const Announced taken = take_signal(wait.index);
    found = judge(taken, extension.threshold, *extension.ring);
    seen = taken.order;
  }
  if (order_ != nullptr) extension.order = order_->join(extension.order, seen);
  if (found.status != Status::ok) {
    RingSignal answer;
    answer.why = std::move(found.why);
    answer.is_out_of_step = found.is_out_of_step;
    extension.ring = std::make_shared<RingSignal>(std::move(answer));
    extension.refusal = static_cast<std::uint32_t>(found.status);
  }
  wait.transaction->set_response_status(found.status == Status::ok ? tlm::TLM_OK_RESPONSE
                                                                   : tlm::TLM_COMMAND_ERROR_RESPONSE);
  compute.respond(*wait.transaction, std::max(wait.arrival, now()) - now());
  wait.transaction->release();
}

/// Refuses signals of an earlier generation of the sender or of this GPU.
Signals::Refusal Signals::judge_lives(const RingSignal& found) const {
  if (!is_of_its_first_life(found)) return {Status::peer_failed, text_of_another_life(found), true};
  if (found.begun < reset_at_)
    return {Status::peer_failed,
            fmt::format("the neighbour's ring kernel, GPU {}'s, has begun before this GPU was reset: found {:.3f} ns, "
                        "expected {:.3f} ns or later",
                        found.sender, to_ns(found.begun), to_ns(reset_at_)),
            true};
  return {};
}

/// A ring kernel goes on when its neighbour's signal, and nothing else, has raised the counter to the threshold, and
/// the signal is of the kernel that the wait expects, which has not failed.
Signals::Refusal Signals::judge(const Announced& taken, std::uint64_t threshold, const RingSignal& expected) const {
  const RingSignal& found = *taken.signal;
  const std::size_t index = taken.index;
  if (Refusal refusal = judge_lives(found); refusal.status != Status::ok) return refusal;
  if (!agree(found, expected))
    return {Status::mismatch,
            fmt::format("the neighbour that signals by counter {}, GPU {}, runs another ring kernel: {}", index,
                        found.sender, differences(found, expected)),
            differ_in_signals(found, expected)};
  if (taken.value != threshold)
    return {
        Status::mismatch,
        fmt::format("counter {}: found {} after the signal of GPU {}'s ring kernel, expected {}: something else has "
                    "changed the counter",
                    index, registers.value[index].value(), found.sender, threshold)};
  if (found.failure != 0)
    return {
        Status::peer_failed,
        fmt::format("the ring kernel of the neighbour that signals by counter {}, GPU {}, has failed: found \"{}\", "
                    "expected right data",
                    index, found.sender, text_of(static_cast<Status>(found.failure)))};
  return {};
}

/// The counter's oldest; there is one.
Signals::Announced Signals::take_signal(std::size_t index) {
  const auto oldest = std::find_if(announced_.begin(), announced_.end(),
                                   [index](const Announced& announced) { return announced.index == index; });
  Announced taken = *oldest;
  announced_.erase(oldest);
  return taken;
}

void Signals::note_other_change(std::size_t index) {
  for (Announced& announced : announced_)
    if (announced.index == index) announced.value = 0;
}

std::vector<std::string> Signals::diagnosis() const {
  std::vector<std::string> lines;
  for (const Wait& wait : waits_)
    lines.push_back(fmt::format("GPU {} signals: a workgroup of queue {} waits for counter {} to reach {}{}, it is {}",
                                gpu_, extension_of(*wait.transaction).queue, wait.index,
                                extension_of(*wait.transaction).threshold,
                                extension_of(*wait.transaction).ring == nullptr ? "" : " by its neighbour's signal",
                                registers.value[wait.index].value()));
  return lines;
}

std::vector<std::string> Signals::untaken() const {
  std::vector<std::string> lines;
  std::vector<bool> is_told(registers.value.size());
  for (const Announced& announced : announced_) {
    const std::size_t i = announced.index;
    if (is_told[i]) continue;
    is_told[i] = true;
    lines.push_back(
        fmt::format("GPU {} signals: no workgroup takes the signals of GPU {}'s ring kernel on counter {}, "
                    "it is {}",
                    gpu_, announced.signal->sender, i, registers.value[i].value()));
  }
  return lines;
}

std::string Signals::use_of(const OutputRange& range) const {
  for (const Announced& announced : announced_) {
    const OutputRange& stored = announced.signal->stored;
    if (range.overlaps(stored))
      return fmt::format(
          "GPU {}'s ring kernel has stored {:#x} to {:#x} and signalled by counter {}, which no ring "
          "kernel has awaited here",
          announced.signal->sender, stored.begin, stored.end - 1, announced.index);
  }
  return {};
}

}  // namespace t3vp::interconnect
