#include "processor/core_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace t3vp::processor {

CoreMemory::CoreMemory(std::uint64_t base, std::uint64_t bytes) : base_(base), bytes_(bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<unsigned char*>(data);
}

CoreMemory::~CoreMemory() { munmap(data_, bytes_); }

unsigned char* CoreMemory::at(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t offset = address - base_;
  return address >= base_ && offset <= bytes_ && bytes <= bytes_ - offset ? data_ + offset : nullptr;
}

void CoreMemory::transport(tlm::tlm_generic_payload& access) const {
  unsigned char* const data = at(access.get_address(), access.get_data_length());
  access.set_response_status(data != nullptr ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  access.set_dmi_allowed(data != nullptr);
  if (data == nullptr) return;
  if (access.is_read()) std::memcpy(access.get_data_ptr(), data, access.get_data_length());
  if (access.is_write()) std::memcpy(data, access.get_data_ptr(), access.get_data_length());
}

void CoreMemory::give_directly(tlm::tlm_dmi& dmi) const {
  dmi.set_dmi_ptr(data_);
  dmi.set_start_address(base_);
  dmi.set_end_address(base_ + (bytes_ - 1));
  dmi.allow_read_write();
}

}  // namespace t3vp::processor
