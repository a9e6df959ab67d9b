#include "processor/core_timer.h"

#include <cstring>

#include "processor/processor.h"

namespace t3vp::processor {

CoreTimer::CoreTimer(const sc_core::sc_module_name& name, Picoseconds write_time)
    : sc_module(name), write_time_(write_time) {
  SC_HAS_PROCESS(CoreTimer);
  SC_METHOD(drive);
  sensitive << changed_;
}

/// mtime cannot be set: it is the simulation's.
CoreTimer::Place CoreTimer::place(std::uint64_t offset, std::uint64_t bytes) {
  const struct {
    std::uint64_t offset, bytes;
    std::uint64_t* value;
  } registers[] = {{msip, 4, &msip_}, {mtimecmp, 8, &mtimecmp_}, {mtime, 8, &mtime_}};
  for (const auto& r : registers) {
    const std::uint64_t within = offset - r.offset;
    const bool is_one = (bytes == 4 || bytes == 8) && within % bytes == 0 && within < r.bytes && bytes <= r.bytes;
    if (is_one) return {r.value, within};
  }
  return {};
}

void CoreTimer::transport(std::uint64_t offset, tlm::tlm_generic_payload& access, sc_core::sc_time& delay) {
  const std::uint64_t bytes = access.get_data_length();
  const Place at = place(offset, bytes);
  access.set_response_status(at.value != nullptr ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (at.value == nullptr) return;
  mtime_ = (now() + from_sc_time(delay)) / 1000;
  unsigned char* const data = reinterpret_cast<unsigned char*>(at.value) + at.offset;
  if (access.is_read()) std::memcpy(access.get_data_ptr(), data, bytes);
  if (!access.is_write()) return;
  wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  std::memcpy(data, access.get_data_ptr(), bytes);
  msip_ &= 1;
  changed_.notify();
  wait(to_sc_time(write_time_));
}

bool CoreTimer::look(std::uint64_t offset, tlm::tlm_generic_payload& access) {
  const Place at = place(offset, access.get_data_length());
  if (at.value == nullptr || !access.is_read()) return false;
  mtime_ = now() / 1000;
  std::memcpy(access.get_data_ptr(), reinterpret_cast<unsigned char*>(at.value) + at.offset, access.get_data_length());
  return true;
}

void CoreTimer::raise() {
  raised_ = true;
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void CoreTimer::lower() {
  raised_ = false;
  changed_.notify(sc_core::SC_ZERO_TIME);
}

void CoreTimer::drive() {
  const Picoseconds due = time_of_firmware(mtimecmp_);
  software_interrupt.write(msip_ != 0 || raised_);
  timer_interrupt.write(now() >= due);
  if (due != never && now() < due) next_trigger(to_sc_time(due - now()), changed_);
}

}  // namespace t3vp::processor
