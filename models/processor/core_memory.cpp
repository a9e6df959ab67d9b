#include "processor/core_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

namespace t3vp::processor {

CoreMemory::CoreMemory(std::uint64_t base, std::uint64_t bytes)
    : base_(base), bytes_(bytes), may_write_from_{{base, true}} {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<unsigned char*>(data);
}

CoreMemory::~CoreMemory() { munmap(data_, bytes_); }

unsigned char* CoreMemory::at(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t offset = address - base_;
  return address >= base_ && offset <= bytes_ && bytes <= bytes_ - offset ? data_ + offset : nullptr;
}

/// A stretch begins at the address.
void CoreMemory::split(std::uint64_t address) {
  may_write_from_.emplace(address, std::prev(may_write_from_.upper_bound(address))->second);
}

void CoreMemory::let_write(std::uint64_t first, std::uint64_t last, bool allowed) {
  if (last - base_ < bytes_ - 1) split(last + 1);
  split(first);
  may_write_from_.erase(may_write_from_.upper_bound(first), may_write_from_.upper_bound(last));
  may_write_from_[first] = allowed;
}

bool CoreMemory::may_write(std::uint64_t address, std::uint64_t bytes) const {
  const auto first = std::prev(may_write_from_.upper_bound(address));
  return std::all_of(first, may_write_from_.lower_bound(address + bytes), [](const auto& from) { return from.second; });
}

void CoreMemory::transport(tlm::tlm_generic_payload& access) const {
  unsigned char* const data = at(access.get_address(), access.get_data_length());
  const bool is_refused =
      data != nullptr && access.is_write() && !may_write(access.get_address(), access.get_data_length());
  access.set_response_status(data == nullptr ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                             : is_refused    ? tlm::TLM_COMMAND_ERROR_RESPONSE
                                             : tlm::TLM_OK_RESPONSE);
  access.set_dmi_allowed(access.is_response_ok());
  if (access.is_response_error()) return;
  if (access.is_read()) std::memcpy(access.get_data_ptr(), data, access.get_data_length());
  if (access.is_write()) std::memcpy(data, access.get_data_ptr(), access.get_data_length());
}

void CoreMemory::give_directly(std::uint64_t address, tlm::tlm_dmi& dmi) const {
  const auto next = may_write_from_.upper_bound(address), here = std::prev(next);
  dmi.set_dmi_ptr(data_ + (here->first - base_));
  dmi.set_start_address(here->first);
  dmi.set_end_address(next == may_write_from_.end() ? base_ + (bytes_ - 1) : next->first - 1);
  dmi.set_granted_access(here->second ? tlm::tlm_dmi::DMI_ACCESS_READ_WRITE : tlm::tlm_dmi::DMI_ACCESS_READ);
}

}  // namespace t3vp::processor
