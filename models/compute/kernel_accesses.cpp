// What the waves of a kernel have under way in memory.
#include <algorithm>
#include <cstring>

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
      --wave.stores;
      break;
    case T3_CALL_FETCH_ADD:
      *wave.waiting->integer.done = transaction.is_response_ok();
      if (transaction.is_response_ok())
        std::memcpy(wave.waiting->integer.old, transaction.get_data_ptr(), transaction.get_data_length());
      return go_on(wave);
    default:
      return go_on(wave);
  }
  if (wave.waiting != nullptr && serve(wave)) go_on(wave);
}

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
  if (access.kind == T3_CALL_LOAD) {
    access.tile = wave.waiting->tile;
    access.part = wave.waiting->access;
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

/// Its data are real in every run.
void KernelRun::fetch_add(Wave& wave) {
  const t3_integer& integer = wave.waiting->integer;
  Transaction& transaction = host_.pool().make(Operation::fetch_add, integer.address, {1, integer.bytes, 0});
  transaction.extension().cached = false;
  transaction.extension().addend = integer.addend;
  transaction.attach_buffer();
  wave.under_way = true;
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
  if (access.at_once) return issue(wave, transaction, 0);
  const ComputeParameters& p = host_.parameters();
  wave.port_until = std::max(wave.port_until, now()) +
                    cycle_time(static_cast<double>(extension.shape.bytes()) / p.port_bytes_per_cycle, p.clock_GHz);
  issue(wave, transaction, wave.port_until - now());
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
  wave.under_way = true;
  issue(wave, transaction, behind_stores(wave, counter.address));
}

void KernelRun::await(Wave& wave) {
  const t3_counter& counter = wave.waiting->counter;
  Transaction& transaction = host_.pool().make(Operation::wait, counter.address, {1, 8, 0});
  transaction.extension().threshold = counter.threshold;
  transaction.extension().ring = agreement_.expected;
  wave.under_way = true;
  issue(wave, transaction, 0);
}

}  // namespace t3vp::compute
