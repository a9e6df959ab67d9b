#include "compute/wave_polls.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp::compute {
namespace {

/// Returns the number in the GPU's byte order, little endian.
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

bool is_polling(const Wave& wave) {
  return wave.waiting != nullptr && wave.waiting->kind == T3_CALL_WAIT_VALUE && wave.ends_later &&
         wave.poll.in_vain != 0;
}

}  // namespace

void WavePolls::begin(Wave& wave) {
  wave.ends_later = true;
  wave.poll.in_vain = 0;
  again(wave);
}

void WavePolls::again(Wave& wave) {
  const Picoseconds behind = accesses_.behind_stores(wave, wave.waiting->poll.condition.address);
  wave.poll.sent_at = now() + behind;
  bytes_.read_polled(wave, behind);
}

/// The next read goes when this one is back, and the loop has gone round.
bool WavePolls::ends(Wave& wave, const Transaction& transaction) {
  const t3_poll& poll = wave.waiting->poll;
  const bool ok = transaction.is_response_ok();
  if (ok) {
    wave.poll.seen = number_of(transaction.get_data_ptr(), transaction.get_data_length()) & poll.condition.mask;
    if (!holds(poll.condition, wave.poll.seen)) {
      ++wave.poll.in_vain;
      host_.schedule_poll(std::max(now(), wave.poll.sent_at + host_.parameters().poll), wave.slot, wave.given.wave);
      return false;
    }
  }
  if (const Cause& written = transaction.get_extension<DataExtension>()->seen;
      wave.poll.in_vain != 0 && written.is_known()) {
    Cause::current() = written;
    Cause::current().extend(now(), Part::sync);
  }
  const KernelTime time(host_, code_of(wave));
  *poll.done = ok;
  return true;
}

std::uint32_t WavePolls::count(const std::vector<Wave>& waves) {
  return static_cast<std::uint32_t>(std::count_if(waves.begin(), waves.end(), is_polling));
}

std::string WavePolls::awaited(const std::vector<Wave>& waves) {
  const auto wave = std::find_if(waves.begin(), waves.end(), is_polling);
  if (wave == waves.end()) return {};
  const t3_condition& condition = wave->waiting->poll.condition;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * condition.bytes);
  const std::string mask = condition.mask == all ? "" : fmt::format(" under mask {:#x}", condition.mask);
  return fmt::format("workgroup {}, wave {} polls {} bytes at {:#x}{}: {:#x} the last of {} times, {}{:#x} expected",
                     wave->given.workgroup, wave->given.wave, condition.bytes, condition.address, mask, wave->poll.seen,
                     wave->poll.in_vain, name_of(condition.comparison), condition.value);
}

}  // namespace t3vp::compute
