#include "compute/shared_mistakes.h"

#include <fmt/format.h>

#include "compute/guest_bool.h"
#include "compute/planned_ranges.h"
#include "protocol/address_map.h"
#include "protocol/gpu_name.h"
#include "registers/nic.h"

namespace t3vp::compute {
namespace {

struct Access {
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint16_t gpu;  ///< whose kernel asks for it
  bool writes;
};

bool is_of_doorbell_page(std::uint64_t address) {
  using Nic = registers::Nic;
  const std::uint64_t page = address_map::block_base(address_map::Block::nic) + Nic::doorbell_offset;
  return address_map::local_of(address) - page < Nic::doorbell_count * Nic::doorbell_stride;
}

/// A doorbell page takes nothing but words that its own GPU writes.
Refusal validate_doorbell(const char* what, const Access& access, const t3_plan& plan) {
  const std::uint64_t on = address_map::gpu_of(access.address);
  const std::string begin = fmt::format("a {} of {} bytes at {:#x}, in the doorbell page of {}'s NIC: ", what,
                                        access.bytes, access.address, gpu_name(on));
  if (!access.writes) return {Status::aborted, begin + "t3_write expected, nothing else of a kernel reaches it"};
  if (on != access.gpu)
    return {Status::aborted, begin + fmt::format("that of {}, the kernel's own, expected", gpu_name(access.gpu))};
  if (!plan.doorbells) return {Status::aborted, begin + "a plan whose doorbells is true expected"};
  if (access.bytes != 4 || access.address % 4 != 0)
    return {Status::aborted, begin + "4 bytes at a multiple of 4 expected"};
  return {};
}

Refusal validate_place(const char* what, const Access& access, const t3_plan& plan) {
  const auto [address, bytes, gpu, writes] = access;
  const std::uint64_t on = address_map::gpu_of(address), local = address_map::local_of(address);
  if (is_of_doorbell_page(address)) return validate_doorbell(what, access, plan);
  if (is_in({local, local + bytes}, plan.shared, plan.shared_count)) return {};
  return refused(Status::aborted,
                 "a {} of {} bytes at {:#x} of {}: its plan shares {} of any GPU, memory of this expected", what, bytes,
                 address, gpu_name(on), places_of(plan.shared, plan.shared_count));
}

Refusal validate_fetch_add(const t3_integer& integer, const t3_plan& plan, std::uint16_t gpu) {
  const std::uint64_t address = integer.address;
  const std::uint32_t bytes = integer.bytes;
  if (integer.old == nullptr || integer.done == nullptr)
    return refused(Status::aborted, "a fetch-and-add at {:#x} without a place for the old value: one expected",
                   address);
  if (bytes != 4 && bytes != 8)
    return refused(Status::aborted, "a fetch-and-add of {} bytes at {:#x}: an integer of 4 or 8 bytes expected", bytes,
                   address);
  if (address % bytes != 0)
    return refused(Status::aborted, "a fetch-and-add of {} bytes at {:#x}: a multiple of {} expected", bytes, address,
                   bytes);
  return validate_place("fetch-and-add", {address, bytes, gpu, false}, plan);
}

Refusal validate_bytes(const t3_bytes& asked, bool reads, const t3_plan& plan, std::uint16_t gpu) {
  const char* const what = reads ? "read" : "write";
  const std::uint64_t address = asked.address;
  if (reads ? asked.read == nullptr || asked.done == nullptr : asked.written == nullptr)
    return refused(Status::aborted, "a {} of {} bytes at {:#x} without a place {}: one expected", what, asked.bytes,
                   address, reads ? "to put them" : "to take them from");
  if (reads && !is_bool(asked.cached))
    return refused(Status::aborted, "a read at {:#x} whose cached is {}: {} expected", address, byte_of(asked.cached),
                   a_bool);
  if (asked.bytes == 0 || asked.bytes > T3_BYTES_MAX || address % T3_BYTES_MAX + asked.bytes > T3_BYTES_MAX)
    return refused(Status::aborted, "a {0} of {1} bytes at {2:#x}: 1 to {3} within one block of {3} expected", what,
                   asked.bytes, address, static_cast<int>(T3_BYTES_MAX));
  if (!reads && address_map::gpu_of(address) == address_map::all_gpus)
    return refused(Status::aborted, "a write to {:#x} of all GPUs: an address of one expected", address);
  return validate_place(what, {address, asked.bytes, gpu, !reads}, plan);
}

Refusal validate_poll(const t3_poll& poll, const t3_plan& plan, std::uint16_t gpu) {
  const t3_condition& condition = poll.condition;
  const std::uint64_t address = condition.address;
  const std::uint32_t bytes = condition.bytes;
  if (poll.done == nullptr)
    return refused(Status::aborted, "a poll of {:#x} without a place to tell its end: one expected", address);
  if (!is_bool(condition.cached))
    return refused(Status::aborted, "a poll of {:#x} whose cached is {}: {} expected", address,
                   byte_of(condition.cached), a_bool);
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    return refused(Status::aborted, "a poll of {} bytes at {:#x}: an integer of 1, 2, 4 or 8 bytes expected", bytes,
                   address);
  if (address % bytes != 0)
    return refused(Status::aborted, "a poll of {} bytes at {:#x}: a multiple of {} expected", bytes, address, bytes);
  if (condition.comparison > T3_AT_LEAST)
    return refused(Status::aborted,
                   "a poll of {:#x} with comparison {}: T3_EQUAL (0), T3_NOT_EQUAL (1) or T3_AT_LEAST (2) expected",
                   address, static_cast<std::uint32_t>(condition.comparison));
  const std::uint64_t all = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  if (condition.mask == 0 || (condition.mask & ~all) != 0 || (condition.value & ~condition.mask) != 0)
    return refused(
        Status::aborted,
        "a poll of {} bytes at {:#x} for {:#x} under mask {:#x}: a mask of some of {:#x} and a value of some of the "
        "mask expected",
        bytes, address, condition.value, condition.mask, all);
  return validate_place("poll", {address, bytes, gpu, false}, plan);
}

}  // namespace

Refusal validate_shared(const t3_call& call, const t3_plan& plan, std::uint16_t gpu) {
  switch (call.kind) {
    case T3_CALL_FETCH_ADD:
      return validate_fetch_add(call.integer, plan, gpu);
    case T3_CALL_WAIT_VALUE:
      return validate_poll(call.poll, plan, gpu);
    default:
      return validate_bytes(call.bytes, call.kind == T3_CALL_READ, plan, gpu);
  }
}

}  // namespace t3vp::compute
