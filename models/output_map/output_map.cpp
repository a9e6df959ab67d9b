#include "output_map/output_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "output_map/output_map_ranges.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/gpu_name.h"

namespace t3vp::output_map {
namespace {

constexpr std::uint64_t posted = ~std::uint64_t{0};  // token of the map's own transactions

bool is_of_nic(std::uint64_t address) {
  const std::uint64_t first = address_map::block_base(address_map::Block::nic);
  return address_map::local_of(address) - first < address_map::block_bytes;
}

}  // namespace

OutputMap::OutputMap(const sc_core::sc_module_name& name, const OutputMapParameters& parameters, std::uint16_t gpu)
    : sc_module(checked(name, parameters)), parameters_(parameters), gpu_(gpu) {
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
    former_maps_.clear();
    registers.capacity.set(parameters_.entries);
  });
}

OutputMap::~OutputMap() = default;

DataInitiatorSocket<OutputMap>& OutputMap::route(std::uint64_t address) {
  if (address_map::gpu_of(address) != gpu_) return remote;
  if (address_map::is_hbm(address)) return cache;
  return is_of_nic(address) ? nic : signals;
}

/// The map that a store belongs to, or that it disturbs.
OutputMap::Entry* OutputMap::find(const tlm::tlm_generic_payload& transaction, const DataExtension& extension) {
  if (extension.operation != Operation::store && extension.operation != Operation::update) return nullptr;
  const Area access{transaction.get_address(), extension.shape};
  for (Entry& entry : entries_) {
    const StagedChunk& range = entry.range;
    if (access.begin >= range.base + range.grid.bytes() || access.end() <= range.base) continue;
    const bool fits = range.fits(extension.producer, extension.element, access);
    if (fits ? range.contains(extension.producer.wg_id, access.begin) : range.touches(access)) return &entry;
  }
  return nullptr;
}

void OutputMap::request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  DataExtension& extension = extension_of(transaction);
  Entry* const entry = find(transaction, extension);
  if (entry == nullptr) {
    if (!follows_stores(transaction, extension)) return route(transaction.get_address()).send(transaction, delay);
    transaction.acquire();
    return waiting_.push_back({&transaction, now() + delay});
  }
  if (!entry->range.fits(extension.producer, extension.element, {transaction.get_address(), extension.shape}))
    return refuse_store(*entry, transaction, delay);
  transaction.set_address(transaction.get_address() - entry->range.base + entry->peer);
  extension.operation = entry->operation;
  extension.traffic = entry->traffic;
  mapped_bytes_ += extension.shape.bytes();
  entry->last_sent = now() + delay;
  transaction.acquire();
  if (waiting_.empty() && !posting_ && has_room(transaction))
    post(transaction, delay);
  else
    waiting_.push_back({&transaction, now() + delay});
}

/// The store reaches neither memory, since its destination is not known. Only the first of a kernel is reported: the
/// others would hide it.
void OutputMap::refuse_store(Entry& entry, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  DataExtension& extension = extension_of(transaction);
  if (!entry.blamed) {
    const Producer& producer = extension.producer;
    const std::string who =
        producer.wg_id == no_workgroup ? fmt::format("{} of no workgroup", name_of(extension.operation))
        : producer.wf_id == no_wavefront
            ? fmt::format("{} of no wavefront of workgroup {}", name_of(extension.operation), producer.wg_id)
            : fmt::format("{} of wavefront {} of workgroup {}", name_of(extension.operation), producer.wf_id,
                          producer.wg_id);
    registers.report(
        Status::mismatch, transaction.get_address(),
        entry.range.misfit(who, producer, extension.element, {transaction.get_address(), extension.shape}));
  }
  entry.blamed = true;
  extension.refusal = static_cast<std::uint32_t>(Status::mismatch);
  transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  compute.respond(transaction, delay);
}

/// A read of a peer does not overtake mapped stores, which may go to the same place.
bool OutputMap::follows_stores(const tlm::tlm_generic_payload& transaction, const DataExtension& extension) const {
  return (!waiting_.empty() || posting_) && is_read(extension.operation) &&
         address_map::gpu_of(transaction.get_address()) != gpu_;
}

/// A store larger than all the room may go when nothing is posted, a read takes none.
bool OutputMap::has_room(tlm::tlm_generic_payload& transaction) const {
  return transaction.is_read() || posted_bytes_ == 0 ||
         posted_bytes_ + extension_of(transaction).shape.bytes() <= parameters_.posted_bytes;
}

void OutputMap::post(tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (transaction.is_read()) {
    remote.send(transaction, delay);
    return transaction.release();
  }
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
  for (int i = 0; i < running_output.size(); ++i)
    if (running_output[i]->read().overlaps(entry.range.base, entry.range.grid.bytes())) return true;
  return false;
}

void OutputMap::remove(bool all, bool force) {
  const StagedChunk staged = staged_chunk(registers);
  const auto is_meant = [&](const Entry& entry) {
    return all ||
           (entry.range.base == staged.base && entry.range.first == staged.first && entry.range.count == staged.count);
  };
  if (!all && std::none_of(entries_.begin(), entries_.end(), is_meant))
    return refuse(Status::invalid_argument, staged.base, fmt::format("{} are not mapped", staged.text()));
  for (const Entry& entry : entries_)
    if (is_meant(entry) && is_written(entry) && !force) return refuse_busy(entry);
  for (const Entry& entry : entries_)
    if (is_meant(entry) && entry.last_sent != never) former_maps_.note(entry.range, entry.peer, entry.last_sent);
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_meant), entries_.end());
  registers.status.code.set(Status::ok);
}

void OutputMap::refuse_busy(const Entry& entry) {
  refuse(Status::busy, entry.range.base,
         fmt::format("a kernel that writes the output at {:#x} runs, and its maps stay as they are until it has ended",
                     entry.range.base));
}

void OutputMap::add() {
  Entry entry;
  entry.range = staged_chunk(registers);
  entry.peer = registers.peer_base.value();
  using Kind = registers::OutputMap::Operation::Kind;
  const Kind kind = registers.operation.kind();
  entry.operation = kind == Kind::store ? Operation::store : Operation::update;
  entry.traffic = registers.operation.traffic();

  constexpr std::uint64_t alignment = 32;
  const StagedChunk& range = entry.range;
  const std::uint64_t bytes = range.grid.bytes();
  if (kind == Kind::none)
    return refuse(Status::invalid_argument, range.base, "operation none: store or update expected");
  if (const ChunkCheck found = check(range, gpu_, cache); found.status != Status::ok)
    return refuse(found.status, range.base, found.text);
  if (entry.peer % alignment != 0)
    return refuse(Status::unaligned, entry.peer,
                  fmt::format("peer {:#x} must be a multiple of {}", entry.peer, alignment));
  if (address_map::gpu_of(entry.peer) == gpu_)
    return refuse(Status::no_peer, entry.peer,
                  fmt::format("peer {:#x} is this GPU's own: one of another GPU expected", entry.peer));
  if (address_map::gpu_of(entry.peer) == address_map::all_gpus)
    return refuse(Status::no_peer, entry.peer,
                  fmt::format("peer {:#x} is all GPUs': one of another GPU expected", entry.peer));
  if (!remote.reaches(entry.peer))
    return refuse(
        Status::no_peer, entry.peer,
        fmt::format("GPU {} of peer address {:#x} cannot be reached", address_map::gpu_of(entry.peer), entry.peer));
  if (!remote.holds(entry.peer, bytes))
    return refuse(Status::bad_address, entry.peer,
                  fmt::format("peer {:#x} of {:#x} bytes does not end in the memory of GPU {}", entry.peer, bytes,
                              address_map::gpu_of(entry.peer)));
  for (const Entry& other : entries_)
    if (range.overlaps(other.range)) return refuse(Status::overlap, range.base, range.overlap(other.range));
  if (is_written(entry)) return refuse_busy(entry);
  if (entries_.size() == parameters_.entries)
    return refuse(Status::table_full, range.base, fmt::format("all {} entries are in use", parameters_.entries));
  entries_.push_back(entry);
  registers.status.code.set(Status::ok);
}

bool OutputMap::maps(std::uint32_t wg_id, std::uint64_t address) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.range.contains(wg_id, address); });
}

std::optional<std::uint64_t> OutputMap::sender_of(std::uint32_t wg_id, std::uint64_t peer_address) const {
  for (const Entry& entry : entries_) {
    const std::uint64_t address = peer_address - entry.peer + entry.range.base;
    if (entry.range.contains(wg_id, address)) return address;
  }
  return std::nullopt;
}

std::string OutputMap::in_the_way(const OutputRange& output, bool stores) const {
  if (!stores) return {};
  for (const Entry& entry : entries_)
    if (output.overlaps(entry.range.base, entry.range.grid.bytes()))
      return entry.range.text() + " are mapped to a peer";
  return {};
}

std::vector<std::string> OutputMap::contents() const {
  std::vector<std::string> lines;
  for (const Entry& entry : entries_)
    lines.push_back(fmt::format("remote_map of {}: {} to {:#x} of {}, {}", entry.range.text(), name_of(entry.operation),
                                entry.peer, gpu_name(address_map::gpu_of(entry.peer)),
                                entry.last_sent == never
                                    ? std::string("nothing has been stored there")
                                    : fmt::format("the last one at {:.3f} ns", to_ns(entry.last_sent))));
  return lines;
}

void OutputMap::visit_statistics(const StatisticVisitor& visit) const {
  visit("mapped_bytes", "bytes", "stores that remote_map sent to a peer", static_cast<double>(mapped_bytes_));
}

}  // namespace t3vp::output_map
