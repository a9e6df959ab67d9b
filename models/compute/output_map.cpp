#include "compute/output_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/address_map.h"
#include "registers/staged_chunk.h"

namespace t3vp {
namespace {

constexpr std::uint64_t posted = ~std::uint64_t{0};  // token of the map's own transactions

}  // namespace

OutputMap::OutputMap(const sc_core::sc_module_name& name, const OutputMapParameters& parameters, std::uint16_t gpu)
    : sc_module(name), parameters_(parameters), gpu_(gpu) {
  compute.on_debug(&OutputMap::debug);
  compute.report_to(registers.errors, registers.description().name);
  remote.on_taken(&OutputMap::remote_taken);
  registers.command.on_write([this] { command(); });
  registers.capacity.set(parameters.entries);
  registers.status.on_refresh([this] {
    registers.status.busy.set(
        std::any_of(entries_.begin(), entries_.end(), [this](const Entry& e) { return is_written(e); }));
  });
  registers.used.on_refresh([this] { registers.used.set(entries_.size()); });
  registers.on_reset([this] {
    entries_.clear();
    registers.capacity.set(parameters_.entries);
  });
}

DataInitiatorSocket<OutputMap>& OutputMap::route(std::uint64_t address) {
  if (address_map::gpu_of(address) != gpu_) return remote;
  return address_map::is_hbm(address) ? cache : signals;
}

const OutputMap::Entry* OutputMap::find(const tlm::tlm_generic_payload& transaction,
                                        const DataExtension& extension) const {
  if (extension.operation != Operation::store && extension.operation != Operation::update) return nullptr;
  for (const Entry& entry : entries_)
    if (extension.producer.wg_id - entry.first < entry.count && transaction.get_address() - entry.output < entry.bytes)
      return &entry;
  return nullptr;
}

void OutputMap::request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  DataExtension& extension = extension_of(transaction);
  const Entry* entry = find(transaction, extension);
  if (entry == nullptr) return route(transaction.get_address()).send(transaction, delay);
  transaction.set_address(transaction.get_address() - entry->output + entry->peer);
  extension.operation = entry->operation;
  mapped_bytes_ += extension.shape.bytes();
  transaction.acquire();
  if (waiting_.empty() && !posting_ && has_room(transaction))
    post(transaction, delay);
  else
    waiting_.push_back({&transaction, now() + delay});
}

/// A store larger than all the room may go when nothing is posted.
bool OutputMap::has_room(tlm::tlm_generic_payload& transaction) const {
  return posted_bytes_ == 0 || posted_bytes_ + extension_of(transaction).shape.bytes() <= parameters_.posted_bytes;
}

void OutputMap::post(tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  Transaction& store = pool_.relay(transaction);
  store.extension().token = posted;
  posted_bytes_ += store.extension().shape.bytes();
  compute.taken(transaction, delay);
  remote.send(store, delay);
  transaction.release();
}

void OutputMap::remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (extension_of(transaction).token != posted) return compute.taken(transaction, delay);
  left(transaction, delay);
}

void OutputMap::remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (extension_of(transaction).token != posted) return response(0, transaction, delay);
  if (!extension_of(transaction).taken) left(transaction, delay);
  tlm::tlm_generic_payload& original = static_cast<Transaction&>(transaction).end_relay();
  compute.respond(original, delay);
  original.release();
}

void OutputMap::left(const tlm::tlm_generic_payload& store, Picoseconds delay) {
  posted_bytes_ -= store.get_data_length();
  room_since_ = now() + delay;
  if (!posting_) post_waiting();
}

/// A store that the link takes at once makes room for the next: this goes round, not deeper.
void OutputMap::post_waiting() {
  posting_ = true;
  while (!waiting_.empty() && has_room(*waiting_.front().transaction)) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    post(*next.transaction, std::max(next.arrival, room_since_) - now());
  }
  posting_ = false;
}

unsigned OutputMap::debug(int, tlm::tlm_generic_payload& transaction) {
  return route(transaction.get_address())->transport_dbg(transaction);
}

void OutputMap::command() {
  using Action = registers::OutputMap::Command::Action;
  switch (registers.command.action()) {
    case Action::add:
      add();
      break;
    case Action::remove_all:
      remove(true, registers.command.force() != 0);
      break;
    case Action::remove:
      remove(false, registers.command.force() != 0);
      break;
    case Action::none:
      break;
  }
}

void OutputMap::refuse(Status status, std::uint64_t address, const std::string& text) {
  registers.status.code.set(status);
  registers.report(status, address, text);
}

bool OutputMap::is_written(const Entry& entry) const {
  return running_output.size() != 0 && running_output->read().overlaps(entry.output, entry.bytes);
}

void OutputMap::remove(bool all, bool force) {
  const std::uint64_t output = registers.output_base.value(), first = registers.first_workgroup.value(),
                      count = registers.workgroups.value();
  const auto is_meant = [&](const Entry& entry) {
    return all || (entry.output == output && entry.first == first && entry.count == count);
  };
  if (!all && std::none_of(entries_.begin(), entries_.end(), is_meant))
    return refuse(Status::invalid_argument, output,
                  fmt::format("{} workgroups from {} of the output at {:#x} are not mapped", count, first, output));
  for (const Entry& entry : entries_)
    if (is_meant(entry) && is_written(entry) && !force)
      return refuse(
          Status::busy, entry.output,
          fmt::format("a kernel that writes the output at {:#x} runs, and its maps stay as they are until it has ended",
                      entry.output));
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_meant), entries_.end());
  registers.status.code.set(Status::ok);
}

void OutputMap::add() {
  Entry entry;
  entry.output = registers.output_base.value();
  entry.peer = registers.peer_base.value();
  entry.bytes = registers.bytes.value();
  entry.first = static_cast<std::uint32_t>(registers.first_workgroup.value());
  entry.count = static_cast<std::uint32_t>(registers.workgroups.value());
  using Kind = registers::OutputMap::Operation::Kind;
  const Kind kind = registers.operation.kind();
  entry.operation = kind == Kind::store ? Operation::store : Operation::update;

  constexpr std::uint64_t alignment = 32;
  if (kind == Kind::none)
    return refuse(Status::invalid_argument, entry.output, "operation none: store or update expected");
  if (entry.count == 0 || entry.end() > no_workgroup)
    return refuse(
        Status::invalid_argument, entry.output,
        fmt::format("{} workgroups from {}: 1 or more below {} expected", entry.count, entry.first, no_workgroup));
  if (entry.count > most_mapped_workgroups)
    return refuse(Status::invalid_argument, entry.output,
                  fmt::format("{} workgroups in a map: up to {} expected", entry.count, most_mapped_workgroups));
  if (entry.bytes == 0)
    return refuse(Status::invalid_argument, entry.output, "an output of 0 bytes: 1 or more expected");
  if (entry.output % alignment != 0 || entry.peer % alignment != 0)
    return refuse(
        Status::unaligned, entry.output,
        fmt::format("output {:#x} and peer {:#x} must be multiples of {}", entry.output, entry.peer, alignment));
  if (address_map::gpu_of(entry.output) != gpu_)
    return refuse(Status::bad_address, entry.output,
                  fmt::format("output {:#x} is GPU {}'s: one of GPU {} expected", entry.output,
                              address_map::gpu_of(entry.output), gpu_));
  if (!cache.holds(entry.output, entry.bytes))
    return refuse(Status::bad_address, entry.output,
                  fmt::format("output {:#x} of {:#x} bytes does not end in the memory of GPU {}", entry.output,
                              entry.bytes, gpu_));
  if (address_map::gpu_of(entry.peer) == gpu_)
    return refuse(Status::no_peer, entry.peer,
                  fmt::format("peer {:#x} is this GPU's own: one of another GPU expected", entry.peer));
  if (!remote.reaches(entry.peer))
    return refuse(
        Status::no_peer, entry.peer,
        fmt::format("GPU {} of peer address {:#x} cannot be reached", address_map::gpu_of(entry.peer), entry.peer));
  if (!remote.holds(entry.peer, entry.bytes))
    return refuse(Status::bad_address, entry.peer,
                  fmt::format("peer {:#x} of {:#x} bytes does not end in the memory of GPU {}", entry.peer, entry.bytes,
                              address_map::gpu_of(entry.peer)));
  for (const Entry& other : entries_)
    if (entry.overlaps(other))
      return refuse(
          Status::overlap, entry.output,
          fmt::format("workgroups {} to {} of the output at {:#x} overlap the mapped {} to {}", entry.first,
                      entry.first + entry.count - 1, entry.output, other.first, other.first + other.count - 1));
  if (is_written(entry))
    return refuse(
        Status::busy, entry.output,
        fmt::format("a kernel that writes the output at {:#x} runs, and its maps stay as they are until it has ended",
                    entry.output));
  if (entries_.size() == parameters_.entries)
    return refuse(Status::table_full, entry.output, fmt::format("all {} entries are in use", parameters_.entries));
  entries_.push_back(entry);
  registers.status.code.set(Status::ok);
}

bool OutputMap::maps(std::uint32_t wg_id, std::uint64_t address) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return wg_id - entry.first < entry.count && address - entry.output < entry.bytes;
  });
}

std::optional<std::uint64_t> OutputMap::sender_of(std::uint32_t wg_id, std::uint64_t peer_address) const {
  for (const Entry& entry : entries_)
    if (wg_id - entry.first < entry.count && peer_address - entry.peer < entry.bytes)
      return peer_address - entry.peer + entry.output;
  return std::nullopt;
}

void OutputMap::visit_statistics(const StatisticVisitor& visit) const {
  visit("mapped_bytes", "bytes", "stores that remote_map sent to a peer", static_cast<double>(mapped_bytes_));
}

}  // namespace t3vp
