// What the waves of a kernel have under way in memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/device_mistakes.h"
#include "compute/kernel_run.h"
#include "protocol/address_map.h"
#include "t3/element_bytes.h"

namespace t3vp::compute {

/// An answer may be the one that the wave waits for.
void KernelRun::answered(Slot, Transaction& transaction) {
  const auto number = static_cast<std::uint32_t>(transaction.extension().token);
  Access& access = accesses_[number];
  Wave& wave = *access.wave;
  access.wave = nullptr;
  free_accesses_.push_back(number);
  switch (access.kind) {
    case T3_CALL_LOAD:
      if (const unsigned char* data = transaction.get_data_ptr()) {
        contents(wave, access.tile).address = transaction.get_address();
        take_rows(contents(wave, access.tile), access.tile, access.part, data);
      }
      tiles_.has_come(index_of(wave), access.tile);
      --wave.loads;
      break;
    case T3_CALL_STORE:
    case T3_CALL_UPDATE:
    case T3_CALL_WRITE:
      --wave.stores;
      wave.stored.erase(std::find(wave.stored.begin(), wave.stored.end(), number));
      break;
    case T3_CALL_FETCH_ADD:
      tell_old(wave, transaction);
      return go_on(wave);
    case T3_CALL_READ:
      tell_read(wave, transaction);
      return go_on(wave);
    case T3_CALL_WAIT_VALUE:
      if (ends_poll(wave, transaction)) go_on(wave);
      return;
    default:
      return go_on(wave);
  }
  if (wave.waiting != nullptr && serve(wave)) go_on(wave);
}

namespace {

bool is_store(std::uint32_t kind) { return kind == T3_CALL_STORE || kind == T3_CALL_UPDATE || kind == T3_CALL_WRITE; }

AccessedBytes bytes_of(const t3_access& access) {
  return {access.address, access.stride, access.rows, std::uint64_t{access.columns} * t3_element_bytes(access.element)};
}

/// Of a call that accesses memory, and not signals.
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

void KernelRun::issue(Wave& wave, Transaction& transaction, Picoseconds delay) {
  std::uint32_t number = static_cast<std::uint32_t>(accesses_.size());
  if (free_accesses_.empty()) {
    accesses_.emplace_back();
  } else {
    number = free_accesses_.back();
    free_accesses_.pop_back();
  }
  Access& access = accesses_[number];
  access.wave = &wave;
  access.kind = static_cast<t3_call_kind>(wave.waiting->kind);
  if (access.kind <= T3_CALL_UPDATE) {
    access.tile = wave.waiting->tile;
    access.part = wave.waiting->access;
  }
  if (is_store(access.kind)) {
    access.bytes = bytes_of(*wave.waiting);
    wave.stored.push_back(number);
  }
  transaction.extension().token = number;
  host_.issue(wave.slot, transaction, delay);
}

Transaction& KernelRun::transfer(Wave& wave, Operation operation) {
  const t3_access& access = wave.waiting->access;
  Transaction& transaction = host_.pool().make(
      operation, access.address, {access.rows, access.columns * t3_element_bytes(access.element), access.stride});
  DataExtension& extension = transaction.extension();
  extension.traffic = operation == Operation::load ? reads_ : writes_;
  extension.element = static_cast<ElementType>(access.element);
  extension.cached = !access.uncached;
  if (host_.functional()) transaction.attach_buffer();
  return transaction;
}

void KernelRun::load(Wave& wave) {
  Transaction& transaction = transfer(wave, Operation::load);
  tiles_.begin(index_of(wave), *wave.waiting);
  tiles_.awaits(index_of(wave), wave.waiting->tile);
  ++wave.loads;
  issue(wave, transaction, behind_stores(wave, transaction.get_address()));
}

/// What a wave reads of a peer, and its signals, do not overtake its stores, which pass the port one after the other.
Picoseconds KernelRun::behind_stores(const Wave& wave, std::uint64_t address) const {
  return address_map::gpu_of(address) == host_.gpu() ? 0 : std::max(wave.port_until, now()) - now();
}

/// The places are the program's, and written to on its account.
void KernelRun::tell_old(const Wave& wave, const Transaction& transaction) {
  const KernelTime time(host_, code_of(wave));
  *wave.waiting->integer.done = transaction.is_response_ok();
  if (transaction.is_response_ok())
    std::memcpy(wave.waiting->integer.old, transaction.get_data_ptr(), transaction.get_data_length());
}

/// Its data are real in every run.
void KernelRun::fetch_add(Wave& wave) {
  const t3_integer& integer = wave.waiting->integer;
  Transaction& transaction = host_.pool().make(Operation::fetch_add, integer.address, {1, integer.bytes, 0});
  transaction.extension().cached = false;
  transaction.extension().addend = integer.addend;
  transaction.attach_buffer();
  wave.in_flight = true;
  issue(wave, transaction, behind_stores(wave, integer.address));
}

void KernelRun::store(Wave& wave, Operation operation) {
  Transaction& transaction = transfer(wave, operation);
  DataExtension& extension = transaction.extension();
  const t3_tile& tile = wave.waiting->tile;
  const t3_access& access = wave.waiting->access;
  if (access.of.named)
    extension.producer = {access.of.workgroup,
                          access.of.wavefront == T3_WHOLE_WORKGROUP ? no_wavefront : access.of.wavefront, host_.gpu()};
  if (address_map::gpu_of(access.address) != host_.gpu()) extension.ring = agreement_.sent;
  if (host_.functional()) give_rows(contents(wave, tile), tile, access, transaction.get_data_ptr());
  ++wave.stores;
  issue(wave, transaction, access.at_once ? 0 : pass_port(wave, extension.shape.bytes()));
}

/// Until the bytes have passed, behind those of the wave's stores before them.
Picoseconds KernelRun::pass_port(Wave& wave, std::uint64_t bytes) const {
  const ComputeParameters& p = host_.parameters();
  wave.port_until =
      std::max(wave.port_until, now()) + cycle_time(static_cast<double>(bytes) / p.port_bytes_per_cycle, p.clock_GHz);
  return wave.port_until - now();
}

void KernelRun::signal(Wave& wave) {
  const t3_counter& counter = wave.waiting->counter;
  Transaction& transaction = host_.pool().make(Operation::store, counter.address, {1, 8, 0});
  transaction.extension().cached = false;
  if (agreement_.sent != nullptr) {
    const auto signal = std::make_shared<RingSignal>(*agreement_.sent);
    signal->stored = {counter.stored.begin, counter.stored.end};
    signal->failure = static_cast<std::uint32_t>(host_.failure());
    transaction.extension().ring = signal;
  }
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 1;
  wave.in_flight = true;
  issue(wave, transaction, behind_stores(wave, counter.address));
}

void KernelRun::await(Wave& wave) {
  const t3_counter& counter = wave.waiting->counter;
  Transaction& transaction = host_.pool().make(Operation::wait, counter.address, {1, 8, 0});
  transaction.extension().threshold = counter.threshold;
  transaction.extension().ring = agreement_.expected;
  wave.in_flight = true;
  issue(wave, transaction, 0);
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

/// What is of all GPUs is of each.
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

/// Whether the call may reach memory before what the wave has stored. Stores take turns at the port, so that a load of
/// what they bring may pass them. What goes to all GPUs reaches the own one through the switch, other stores do not.
bool KernelRun::may_pass(const t3_call& call, const AccessedBytes& bytes, const AccessedBytes& stored) const {
  if (!is_store(call.kind)) return share_bytes(bytes, stored);
  const auto is_here = [this](const AccessedBytes& access) {
    return address_map::gpu_of(access.address) == host_.gpu();
  };
  const bool two_ways = (is_here(bytes) && is_of_all(stored)) || (is_of_all(bytes) && is_here(stored));
  return two_ways && share_bytes(bytes, stored);
}

std::string KernelRun::validate_order(const Wave& wave, const t3_call& call) const {
  if (wave.stored.empty() || !accesses_memory(call.kind)) return {};
  const AccessedBytes bytes = bytes_of(call);
  for (const std::uint32_t number : wave.stored)
    if (const Access& stored = accesses_[number]; may_pass(call, bytes, stored.bytes)) {
      const std::string own = text_of(stored.kind, stored.bytes);
      return fmt::format("{}: its own {} is under way, t3_fence before it expected", text_of(call.kind, bytes),
                         own.substr(own.find(' ') + 1));
    }
  return {};
}

/// Of two loads into the same elements that are under way, memory's timing would say which one they hold.
std::string KernelRun::validate_load(const Wave& wave, const t3_call& call) const {
  if (is_here(wave, call.tile)) return {};
  const auto meet = [](std::uint64_t a, std::uint64_t length_a, std::uint64_t b, std::uint64_t length_b) {
    return a < b + length_b && b < a + length_a;
  };
  const t3_access& part = call.access;
  for (const Access& access : accesses_) {
    if (access.wave != &wave || access.kind != T3_CALL_LOAD || access.tile.index != call.tile.index) continue;
    const t3_access& other = access.part;
    if (meet(part.row, part.rows, other.row, other.rows) &&
        meet(part.column, part.columns, other.column, other.columns))
      return fmt::format(
          "a load of {} x {} elements into {} from ({}, {}) on: another load into some of them is under "
          "way, t3_wait_tile before it expected",
          part.rows, part.columns, compute::text_of(call.tile), part.row, part.column);
  }
  return {};
}

}  // namespace t3vp::compute
