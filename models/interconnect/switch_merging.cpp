// Updates of several GPUs to the same bytes: a switch adds them on their way.
#include <algorithm>
#include <cstring>
#include <utility>

#include "interconnect/link_packet.h"
#include "interconnect/switch.h"
#include "protocol/address_map.h"
#include "protocol/element.h"

namespace t3vp::interconnect {
namespace {

bool are_alike(const DataExtension& a, const DataExtension& b) {
  return a.shape.rows == b.shape.rows && a.shape.row_bytes == b.shape.row_bytes && a.shape.stride == b.shape.stride &&
         a.element == b.element && a.traffic == b.traffic && a.real == b.real && a.producer.wg_id == b.producer.wg_id &&
         a.producer.wf_id == b.producer.wf_id;
}

/// Whether both reach the same local bytes, each taken from its first to its last one.
bool touch(const tlm::tlm_generic_payload& a, const tlm::tlm_generic_payload& b) {
  const auto span = [](const tlm::tlm_generic_payload& access) {
    const Shape& shape = access.get_extension<DataExtension>()->shape;
    const std::uint64_t begin = address_map::local_of(access.get_address());
    return std::make_pair(begin, begin + (shape.rows - 1) * shape.stride + shape.row_bytes);
  };
  const auto [a_begin, a_end] = span(a);
  const auto [b_begin, b_end] = span(b);
  return a_begin < b_end && b_begin < a_end;
}

/// Whether the packet may tell its receiver of others: a flag, a number, a signal or a request.
bool tells(tlm::tlm_generic_payload& packet) {
  const DataExtension& extension = extension_of(packet);
  return extension.operation == Operation::request || extension.real || extension.traffic == TrafficClass::control;
}

/// Whether addresses with these GPU numbers reach one GPU.
bool reach_one(std::uint64_t a, std::uint64_t b) {
  return a == b || a == address_map::all_gpus || b == address_map::all_gpus;
}

}  // namespace

bool Switch::merges(tlm::tlm_generic_payload& update) const {
  const DataExtension& extension = extension_of(update);
  const std::uint64_t address = update.get_address(), gpu = address_map::gpu_of(address);
  return extension.operation == Operation::update && gpu != address_map::all_gpus && address_map::is_hbm(address) &&
         hop_to(route_, gpu).port != no_port && extension.shape.bytes() <= merging_.bytes &&
         extension.shape.row_bytes % bytes_of(extension.element) == 0;
}

/// Returns false when the update has to go on alone.
bool Switch::merge(std::size_t receiver, tlm::tlm_generic_payload& update, Picoseconds delay) {
  if (!merges(update)) return false;
  Merged* merged = merged_with(update);
  const bool is_first = merged == nullptr;
  if (is_first) merged = begin_merged(update, now() + delay);
  if (merged == nullptr) return false;
  merged->ready = std::max(merged->ready, added_at(update, now() + delay));
  if (!is_first) add_part(*merged, update);
  merged->parts.push_back({&update, receiver});
  update.acquire();
  ingress[receiver]->taken(update, merged->ready - now());
  if (merged->parts.size() + 1 == neighbours_.size()) leave(*merged);
  return true;
}

Switch::Merged* Switch::merged_with(const tlm::tlm_generic_payload& update) {
  const DataExtension& extension = *update.get_extension<DataExtension>();
  for (Merged& merged : merged_)
    if (!merged.leaves && merged.sum->get_address() == update.get_address() &&
        are_alike(merged.sum->extension(), extension))
      return &merged;
  return nullptr;
}

/// Null: the table has no room. The oldest sum that is there makes some, for those to come.
Switch::Merged* Switch::begin_merged(tlm::tlm_generic_payload& update, Picoseconds at) {
  const DataExtension& extension = extension_of(update);
  if (merged_bytes_ + extension.shape.bytes() > merging_.bytes) {
    const auto oldest = std::find_if(merged_.begin(), merged_.end(), [](const Merged& one) { return !one.leaves; });
    if (oldest != merged_.end()) leave(*oldest);
    return nullptr;
  }
  Transaction& sum = pool_.make(Operation::update, update.get_address(), extension.shape);
  sum.generation = own;
  sum.extension() = extension;
  sum.extension().token = 0;
  sum.extension().taken = false;
  sum.extension().fabric.lead = 0;
  if (const unsigned char* data = update.get_data_ptr()) {
    sum.attach_buffer();
    std::memcpy(sum.get_data_ptr(), data, sum.get_data_length());
  }
  merged_bytes_ += extension.shape.bytes();
  merged_.push_back({&sum, {}, next_merged_++, at});
  timeouts_.push(at + merging_.timeout, merged_.back().number);
  return &merged_.back();
}

void Switch::add_part(Merged& merged, tlm::tlm_generic_payload& update) {
  const DataExtension& extension = extension_of(update);
  DataExtension& sum = merged.sum->extension();
  sum.addend += 1 + extension.addend;
  sum.made = std::min(sum.made, extension.made);
  if (order_ != nullptr) sum.order = order_->join(sum.order, extension.order);
  if (unsigned char* total = merged.sum->get_data_ptr())
    add_elements(extension.element, total, update.get_data_ptr(),
                 extension.shape.bytes() / bytes_of(extension.element));
}

/// Adders belong to the port of the GPU whose memory is updated.
Picoseconds Switch::added_at(const tlm::tlm_generic_payload& update, Picoseconds at) {
  if (merging_.GBps == 0) return at;
  Picoseconds& free = adders_free_[hop_to(route_, address_map::gpu_of(update.get_address())).port];
  free = std::max(free, at) + transfer_time(update.get_data_length(), merging_.GBps);
  return free;
}

/// Sums of all GPUs have a lane of their own.
void Switch::leave(Merged& merged) {
  merged.leaves = true;
  Transaction& sum = *merged.sum;
  const Hop hop = hop_to(route_, address_map::gpu_of(sum.get_address()));
  sum.extension().fabric.lane = {channel_of(hop, sum), static_cast<std::uint16_t>(ingress.size() + 1)};
  egress[hop.port]->send(sum, std::max(merged.ready, now()) - now() + latency_);
}

void Switch::leave_late() {
  while (timeouts_.ready()) {
    const std::uint64_t number = timeouts_.pop();
    const auto late =
        std::find_if(merged_.begin(), merged_.end(), [&](const Merged& one) { return one.number == number; });
    if (late != merged_.end() && !late->leaves) leave(*late);
  }
  timeouts_.arm();
}

Switch::Merged& Switch::merged_of(const Transaction& sum) {
  return *std::find_if(merged_.begin(), merged_.end(), [&](const Merged& one) { return one.sum == &sum; });
}

/// Of sums of what GPUs have, which are answers, nothing is kept.
void Switch::sum_taken(const Transaction& sum, Picoseconds delay) {
  if (sum.get_extension<DataExtension>()->operation == Operation::answer) return;
  Merged& merged = merged_of(sum);
  merged.taken = true;
  merged_bytes_ -= sum.get_data_length();
  release_held(merged.number, now() + delay);
}

void Switch::sum_answered(Transaction& sum, Picoseconds delay) {
  if (sum.extension().operation == Operation::answer) return sum.release();
  if (!merged_of(sum).taken) sum_taken(sum, delay);
  const auto ended = std::find_if(merged_.begin(), merged_.end(), [&](const Merged& one) { return one.sum == &sum; });
  const std::vector<Merged::Part> parts = std::move(ended->parts);
  merged_.erase(ended);
  for (const Merged::Part& part : parts) {
    part.update->set_response_status(sum.get_response_status());
    extension_of(*part.update).refusal = sum.extension().refusal;
    ingress[part.receiver]->respond(*part.update, delay + latency_);
    part.update->release();
  }
  sum.release();
}

/// Returns whether a store or request waits for sums that have updates of its sender. A tile tells nobody of other
/// tiles, so it waits for those of the same bytes alone.
bool Switch::hold(std::size_t receiver, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  const Operation operation = extension_of(packet).operation;
  if (operation != Operation::store && operation != Operation::request) return false;
  const std::uint64_t gpu = address_map::gpu_of(packet.get_address());
  const bool is_told = tells(packet);
  Held held{&packet, receiver, held_before(receiver, packet), now() + delay};
  for (const Merged& merged : merged_)
    if (!merged.taken && reach_one(gpu, address_map::gpu_of(merged.sum->get_address())) &&
        (is_told || touch(packet, *merged.sum)) &&
        std::any_of(merged.parts.begin(), merged.parts.end(),
                    [&](const Merged::Part& part) { return part.receiver == receiver; }))
      held.before.push_back(merged.number);
  std::sort(held.before.begin(), held.before.end());
  held.before.erase(std::unique(held.before.begin(), held.before.end()), held.before.end());
  if (held.before.empty()) return false;
  packet.acquire();
  held_.push_back(std::move(held));
  return true;
}

/// What a sender's flags and numbers that are held there wait for, and its packets to the same bytes. A later packet
/// waits for it too, so that it does not overtake them.
std::vector<std::uint64_t> Switch::held_before(std::size_t receiver, const tlm::tlm_generic_payload& packet) const {
  std::vector<std::uint64_t> before;
  for (const Held& held : held_)
    if (held.receiver == receiver && (tells(*held.packet) || touch(packet, *held.packet)) &&
        reach_one(address_map::gpu_of(packet.get_address()), address_map::gpu_of(held.packet->get_address())))
      before.insert(before.end(), held.before.begin(), held.before.end());
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return before;
}

/// An update does not pass its sender's store to the same bytes that is held. It goes on alone behind that.
bool Switch::hold_update(std::size_t receiver, tlm::tlm_generic_payload& update, Picoseconds delay) {
  const bool is_behind =
      extension_of(update).operation == Operation::update &&
      std::any_of(held_.begin(), held_.end(), [&](const Held& held) {
        return held.receiver == receiver && touch(update, *held.packet) &&
               reach_one(address_map::gpu_of(update.get_address()), address_map::gpu_of(held.packet->get_address()));
      });
  if (!is_behind) return false;
  update.acquire();
  held_.push_back({&update, receiver, held_before(receiver, update), now() + delay});
  return true;
}

void Switch::release_held(std::uint64_t number, Picoseconds at) {
  std::vector<Held> released;
  for (auto held = held_.begin(); held != held_.end();) {
    const auto found = std::find(held->before.begin(), held->before.end(), number);
    const bool waited = found != held->before.end();
    if (waited) {
      held->before.erase(found);
      held->ready = std::max(held->ready, at);
    }
    if (!waited || !held->before.empty()) {
      ++held;
      continue;
    }
    released.push_back(std::move(*held));
    held = held_.erase(held);
  }
  for (const Held& held : released) {
    pass(held.receiver, *held.packet, std::max(held.ready, now()) - now());
    held.packet->release();
  }
}

}  // namespace t3vp::interconnect
