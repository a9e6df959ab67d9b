#include "compute/kernel_accesses.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/device_mistakes.h"
#include "protocol/address_map.h"
#include "t3/element_bytes.h"

namespace t3vp::compute {
namespace {

bool is_store(std::uint32_t kind) { return kind == T3_CALL_STORE || kind == T3_CALL_UPDATE || kind == T3_CALL_WRITE; }

AccessedBytes bytes_of(const t3_access& access) {
  return {access.address, access.stride, access.rows, std::uint64_t{access.columns} * t3_element_bytes(access.element)};
}

/// Returns the bytes of a call that accesses memory, and not signals.
AccessedBytes bytes_of(const t3_call& call) {
  switch (call.kind) {
    case T3_CALL_FETCH_ADD:
      return {call.integer.address, 0, 1, call.integer.bytes};
    case T3_CALL_READ:
    case T3_CALL_WRITE:
      return {call.bytes.address, 0, 1, call.bytes.bytes};
    case T3_CALL_WAIT_VALUE:
      return {call.poll.condition.address, 0, 1, call.poll.condition.bytes};
    default:
      return bytes_of(call.access);
  }
}

bool accesses_memory(std::uint32_t kind) {
  return kind <= T3_CALL_UPDATE || (kind >= T3_CALL_FETCH_ADD && kind <= T3_CALL_WAIT_VALUE);
}

}  // namespace

void KernelAccesses::issue(Wave& wave, Transaction& transaction, Picoseconds delay) {
  std::uint32_t number = static_cast<std::uint32_t>(accesses_.size());
  if (free_.empty()) {
    accesses_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Access& access = accesses_[number];
  access.wave = &wave;
  access.kind = static_cast<t3_call_kind>(wave.waiting->kind);
  if (access.kind <= T3_CALL_UPDATE) {
    access.tile = wave.waiting->tile;
    access.part = wave.waiting->access;
  }
  if (access.kind == T3_CALL_LOAD) ++wave.in_flight.loads;
  if (is_store(access.kind)) {
    access.bytes = bytes_of(*wave.waiting);
    wave.in_flight.stored.push_back(number);
    ++wave.in_flight.stores;
  }
  transaction.extension().token = number;
  if (OrderObserver* const order = host_.order()) transaction.extension().order = order->point_of_wave(wave.agent);
  host_.issue(wave.slot, transaction, delay);
}

void KernelAccesses::release(const Transaction& transaction) {
  const std::uint32_t number = number_of(transaction);
  Access& access = accesses_[number];
  Wave::InFlight& in_flight = access.wave->in_flight;
  access.wave = nullptr;
  free_.push_back(number);
  if (access.kind == T3_CALL_LOAD) --in_flight.loads;
  if (is_store(access.kind)) {
    --in_flight.stores;
    in_flight.stored.erase(std::find(in_flight.stored.begin(), in_flight.stored.end(), number));
  }
}

bool KernelAccesses::is_own(std::uint64_t address) const { return address_map::gpu_of(address) == host_.gpu(); }

Picoseconds KernelAccesses::pass_port(Wave& wave, std::uint64_t bytes) const {
  const ComputeParameters& p = host_.parameters();
  const double sectors = plan_.store_bytes == 0 ? 1 : 1.0 * T3_SECTOR_BYTES / plan_.store_bytes;
  const double rate = p.store_bytes_per_cycle == 0 ? p.port_bytes_per_cycle : p.store_bytes_per_cycle;
  Picoseconds& until = wave.in_flight.port_until;
  until = std::max(until, now()) + cycle_time(static_cast<double>(bytes) * sectors / rate, host_.clock_GHz());
  return until - now();
}

Picoseconds KernelAccesses::behind_stores(const Wave& wave, std::uint64_t address) const {
  return is_own(address) ? 0 : std::max(wave.in_flight.port_until, now()) - now();
}

namespace {

/// Whether a row at this address has bytes of the access's.
bool meets(std::uint64_t row, std::uint64_t bytes, const AccessedBytes& access) {
  const std::uint64_t each = access.row_bytes, end = row + bytes;
  std::uint64_t first = access.address;  // of the rows that do not end before this one begins
  if (row >= first + each) {
    if (access.rows == 1 || access.stride == 0) return false;
    const std::uint64_t before = (row - first - each) / access.stride + 1;
    if (before >= access.rows) return false;
    first += before * access.stride;
  }
  return first < end;
}

bool share_local_bytes(const AccessedBytes& a, const AccessedBytes& b) {
  if (a.address >= b.end() || b.address >= a.end()) return false;
  for (std::uint32_t row = 0; row < a.rows; ++row)
    if (meets(a.address + row * a.stride, a.row_bytes, b)) return true;
  return false;
}

AccessedBytes at_local(AccessedBytes access) {
  access.address = address_map::local_of(access.address);
  return access;
}

bool is_of_all(const AccessedBytes& access) { return address_map::gpu_of(access.address) == address_map::all_gpus; }

/// An address of all GPUs overlaps with that of each GPU.
bool share_bytes(const AccessedBytes& a, const AccessedBytes& b) {
  const bool on_one = address_map::gpu_of(a.address) == address_map::gpu_of(b.address);
  return (on_one || is_of_all(a) || is_of_all(b)) && share_local_bytes(at_local(a), at_local(b));
}

std::string text_of(std::uint32_t kind, const AccessedBytes& access) {
  const char* const name = kind == T3_CALL_LOAD        ? "a load"
                           : kind == T3_CALL_STORE     ? "a store"
                           : kind == T3_CALL_UPDATE    ? "an update"
                           : kind == T3_CALL_FETCH_ADD ? "a fetch-and-add"
                           : kind == T3_CALL_READ      ? "a read"
                           : kind == T3_CALL_WRITE     ? "a write"
                                                       : "a poll";
  if (kind > T3_CALL_UPDATE) return fmt::format("{} of {} bytes at {:#x}", name, access.row_bytes, access.address);
  return fmt::format("{} of {} rows {} bytes apart at {:#x}", name, access.rows, access.stride, access.address);
}

}  // namespace

Refusal KernelAccesses::validate_count(const Wave& wave, const t3_call& call) const {
  const bool is_posted = call.kind <= T3_CALL_UPDATE || call.kind == T3_CALL_WRITE;
  if (!is_posted || wave.in_flight.count() < T3_ACCESSES_MAX) return {};
  return refused(Status::aborted,
                 "{} loads and stores are under way: less than {} expected, t3_wait_tile or t3_fence waits for them",
                 wave.in_flight.count(), static_cast<int>(T3_ACCESSES_MAX));
}

/// Returns whether the call may reach memory before the wave's earlier stores. Stores arbitrate for the port, so a load
/// of stored bytes may pass them. A store to all GPUs reaches the own one through the switch; other stores do not.
bool KernelAccesses::may_pass(const t3_call& call, const AccessedBytes& bytes, const AccessedBytes& stored) const {
  if (!is_store(call.kind)) return share_bytes(bytes, stored);
  const auto is_here = [this](const AccessedBytes& access) {
    return address_map::gpu_of(access.address) == host_.gpu();
  };
  const bool two_ways = (is_here(bytes) && is_of_all(stored)) || (is_of_all(bytes) && is_here(stored));
  return two_ways && share_bytes(bytes, stored);
}

Refusal KernelAccesses::validate_order(const Wave& wave, const t3_call& call) const {
  if (wave.in_flight.stored.empty() || !accesses_memory(call.kind)) return {};
  const AccessedBytes bytes = bytes_of(call);
  for (const std::uint32_t number : wave.in_flight.stored)
    if (const Access& stored = accesses_[number]; may_pass(call, bytes, stored.bytes)) {
      const std::string own = text_of(stored.kind, stored.bytes);
      return refused(Status::aborted, "{}: its own {} is under way, t3_fence before it expected",
                     text_of(call.kind, bytes), own.substr(own.find(' ') + 1));
    }
  return {};
}

/// Refuses a load into elements that another load in flight also writes: memory's timing would decide which data they
/// hold.
Refusal KernelAccesses::validate_load(const Wave& wave, const t3_call& call) const {
  const auto meet = [](std::uint64_t a, std::uint64_t length_a, std::uint64_t b, std::uint64_t length_b) {
    return a < b + length_b && b < a + length_a;
  };
  const t3_access& part = call.access;
  for (const Access& access : accesses_) {
    if (access.wave != &wave || access.kind != T3_CALL_LOAD || access.tile.index != call.tile.index) continue;
    const t3_access& other = access.part;
    if (meet(part.row, part.rows, other.row, other.rows) &&
        meet(part.column, part.columns, other.column, other.columns))
      return refused(Status::aborted,
                     "a load of {} x {} elements into {} from ({}, {}) on: another load into some of them is under "
                     "way, t3_wait_tile before it expected",
                     part.rows, part.columns, compute::text_of(call.tile), part.row, part.column);
  }
  return {};
}

}  // namespace t3vp::compute
