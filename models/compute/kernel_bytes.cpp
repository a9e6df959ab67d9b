// What the waves of a kernel read, write and poll byte by byte: flags, queues, counters. Real in every run.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/kernel_run.h"
#include "protocol/address_map.h"

namespace t3vp::compute {

namespace {

/// As the GPU's byte order, little endian, has it.
std::uint64_t number_of(const unsigned char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{bytes[i]} << 8 * i;
  return value;
}

bool holds(const t3_condition& condition, std::uint64_t value) {
  switch (condition.comparison) {
    case T3_EQUAL:
      return value == condition.value;
    case T3_NOT_EQUAL:
      return value != condition.value;
    case T3_AT_LEAST:
      break;
  }
  return value >= condition.value;
}

const char* name_of(t3_comparison comparison) {
  return comparison == T3_EQUAL ? "" : comparison == T3_NOT_EQUAL ? "something else than " : "at least ";
}

}  // namespace

Transaction& KernelRun::real_bytes(Operation operation, std::uint64_t address, std::uint32_t bytes, bool cached) {
  Transaction& transaction = host_.pool().make(operation, address, {1, bytes, 0});
  transaction.extension().cached = cached && address_map::gpu_of(address) == host_.gpu();
  transaction.extension().real = true;
  transaction.attach_buffer();
  return transaction;
}

void KernelRun::read(Wave& wave) {
  const t3_bytes& asked = wave.waiting->bytes;
  wave.in_flight = true;
  issue(wave, real_bytes(Operation::load, asked.address, asked.bytes, asked.cached),
        behind_stores(wave, asked.address));
}

/// The places are the program's, and written to on its account.
void KernelRun::tell_read(const Wave& wave, const Transaction& transaction) {
  const KernelTime time(host_, code_of(wave));
  *wave.waiting->bytes.done = transaction.is_response_ok();
  if (transaction.is_response_ok())
    std::memcpy(wave.waiting->bytes.read, transaction.get_data_ptr(), transaction.get_data_length());
}

/// Likewise read from.
void KernelRun::write(Wave& wave) {
  const t3_bytes& asked = wave.waiting->bytes;
  Transaction& transaction = real_bytes(Operation::store, asked.address, asked.bytes, false);
  {
    const KernelTime time(host_, code_of(wave));
    std::memcpy(transaction.get_data_ptr(), asked.written, asked.bytes);
  }
  if (address_map::gpu_of(asked.address) != host_.gpu()) transaction.extension().ring = agreement_.sent;
  ++wave.stores;
  issue(wave, transaction, pass_port(wave, asked.bytes));
}

/// Its own words for why it ends.
std::string KernelRun::told_failure(const Wave& wave) {
  const KernelTime time(host_, code_of(wave));
  return {wave.waiting->failure, ::strnlen(wave.waiting->failure, T3_FAILURE_TEXT - 1)};
}

void KernelRun::begin_poll(Wave& wave) {
  wave.in_flight = true;
  wave.polls = 0;
  poll(wave);
}

void KernelRun::poll(Wave& wave) {
  const t3_condition& condition = wave.waiting->poll.condition;
  const Picoseconds behind = behind_stores(wave, condition.address);
  wave.polled_at = now() + behind;
  issue(wave, real_bytes(Operation::load, condition.address, condition.bytes, condition.cached), behind);
}

void KernelRun::poll_again(Slot slot, std::uint32_t number) {
  if (!failed_) poll(waves_[std::size_t{slot} * plan_.waves + number]);
}

/// The next read goes when this one is back, and the loop has gone round.
bool KernelRun::ends_poll(Wave& wave, const Transaction& transaction) {
  const t3_poll& poll = wave.waiting->poll;
  const bool ok = transaction.is_response_ok();
  if (ok) {
    wave.seen = number_of(transaction.get_data_ptr(), transaction.get_data_length()) & poll.condition.mask;
    if (!holds(poll.condition, wave.seen)) {
      ++wave.polls;
      host_.schedule_poll(std::max(now(), wave.polled_at + host_.parameters().poll), wave.slot, wave.given.wave);
      return false;
    }
  }
  const KernelTime time(host_, code_of(wave));
  *poll.done = ok;
  return true;
}

bool KernelRun::is_polling(const Wave& wave) {
  return wave.waiting != nullptr && wave.waiting->kind == T3_CALL_WAIT_VALUE && wave.in_flight && wave.polls != 0;
}

std::uint32_t KernelRun::polling() const {
  return static_cast<std::uint32_t>(std::count_if(waves_.begin(), waves_.end(), is_polling));
}

std::string KernelRun::awaited() const {
  const auto wave = std::find_if(waves_.begin(), waves_.end(), is_polling);
  if (wave == waves_.end()) return {};
  const t3_condition& condition = wave->waiting->poll.condition;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * condition.bytes);
  const std::string mask = condition.mask == all ? "" : fmt::format(" under mask {:#x}", condition.mask);
  return fmt::format("workgroup {}, wave {} polls {} bytes at {:#x}{}: {:#x} the last of {} times, {}{:#x} expected",
                     wave->given.workgroup, wave->given.wave, condition.bytes, condition.address, mask, wave->seen,
                     wave->polls, name_of(condition.comparison), condition.value);
}

}  // namespace t3vp::compute
