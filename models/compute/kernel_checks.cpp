// What a packet is refused for.
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "compute/compute_cluster.h"
#include "compute/kernel_queue.h"
#include "protocol/address_map.h"
#include "registers/signals.h"
#include "t3/address.h"
#include "t3/check.h"

namespace t3vp::compute {
namespace {
constexpr std::uint32_t packet_entry_bytes = T3_KERNEL_PACKET_ENTRY_BYTES;
constexpr std::uint32_t argument_alignment = 32, known_flags = T3_KERNEL_PACKET_FLAGS_BARRIER;

/// What a kernel's check may say of itself. The others say how a wait has ended, or what became of a context or of a
/// kernel that has run.
bool is_refusal(std::uint32_t code) {
  constexpr Status of_others[] = {Status::ok, Status::stuck, Status::timeout, Status::aborted, Status::stale};
  const auto is_in = [code](const auto& list) {
    return std::find(std::begin(list), std::end(list), static_cast<Status>(code)) != std::end(list);
  };
  return is_in(status_values) && !is_in(of_others);
}
}  // namespace

/// Empty when the packet can be believed, else what was found and what was expected.
std::string KernelQueue::check_header(const t3_kernel* kernel) const {
  if (kernel == nullptr)
    return fmt::format("kernel {:#010x}: one of {} expected", packet_.kernel, cluster_.kernels_.text());
  if ((packet_.flags & ~known_flags) != 0)
    return fmt::format("flags {:#x}: {:#x} mean nothing, 0 expected", packet_.flags, packet_.flags & ~known_flags);
  const bool is_counter =
      packet_.completion_signal < registers::Signals::value_count && packet_.completion_signal != T3_SIGNAL_BARRIER;
  if (!is_counter && packet_.completion_signal != T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE)
    return fmt::format(
        "completion_signal {}: a counter below {} that is not the barrier's, {}, or {:#x} for none, "
        "expected",
        packet_.completion_signal, registers::Signals::value_count, T3_SIGNAL_BARRIER,
        T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE);
  if (packet_.argument_bytes != kernel->arguments.bytes)
    return fmt::format("argument_bytes {}: the {} of kernel {} expected", packet_.argument_bytes,
                       kernel->arguments.bytes, kernel->name);
  return check_place_of_arguments();
}

std::string KernelQueue::check_place_of_arguments() const {
  const std::uint64_t address = packet_.arguments, bytes = packet_.argument_bytes;
  const std::uint64_t begin = address_map::on_gpu(gpu(), 0), end = begin + parameters().memory_bytes;
  if (address % argument_alignment != 0)
    return fmt::format("arguments {:#x}: a multiple of {} expected", address, argument_alignment);
  if (address < begin || address >= end || bytes > end - address)
    return fmt::format("arguments {:#x} of {} bytes: in the memory of GPU {}, {:#x} to {:#x}, expected", address, bytes,
                       gpu(), begin, end - 1);
  if (ring().overlaps(address, bytes) && !come_with_packet())
    return fmt::format(
        "arguments {:#x} of {} bytes: behind the packet in its entry, {:#x} to {:#x}, or outside of the "
        "ring at {:#x} to {:#x}, expected",
        address, bytes, packet_address_ + T3_KERNEL_PACKET_BYTES, packet_address_ + packet_entry_bytes - 1,
        ring().begin, ring().end - 1);
  return {};
}

/// The arguments lie in the packet's own entry.
bool KernelQueue::come_with_packet() const {
  const std::uint64_t begin = packet_address_ + T3_KERNEL_PACKET_BYTES, end = packet_address_ + packet_entry_bytes;
  return packet_.arguments >= begin && packet_.arguments + packet_.argument_bytes <= end;
}

/// Whether the kernel can run so on this GPU, in the kernel's own words.
KernelQueue::Refusal KernelQueue::check_launch(const t3_kernel& kernel, const t3_device& device,
                                               const t3_launch& launch) {
  t3_check& check = *new (cluster_.lent_[0].lend(sizeof(t3_check))) t3_check{};
  check.device = &device;
  check.gpu = gpu();
  check.functional = functional();
  check.memory_bytes = parameters().memory_bytes;
  check.counters = registers::Signals::value_count;
  check.cluster = &cluster_;
  check.reaches = [](void* cluster, std::uint64_t address) {
    return static_cast<ComputeCluster*>(cluster)->memory.reaches(address);
  };
  bool accepted = false;
  {
    KernelTime time(*this, {kernel.name, "its check"});
    accepted = kernel.check(&check, &launch);
  }
  if (const char* where = cluster_.lent_[0].written_beside())
    return {Status::bad_packet, fmt::format("kernel {}: its check writes {} its struct t3_check", kernel.name, where)};
  check.text[T3_CHECK_TEXT - 1] = 0;
  if (accepted && check.code == 0) return {};
  if (accepted)
    return {
        Status::bad_packet,
        fmt::format("kernel {}: its check has refused with code {} and returned true: the one or the other expected",
                    kernel.name, check.code)};
  if (is_refusal(check.code))
    return {static_cast<Status>(check.code),
            check.text[0] != 0 ? check.text : fmt::format("kernel {}: its check refuses, without a text", kernel.name)};
  return {Status::bad_packet,
          fmt::format("kernel {}: its check refuses with code {}: one of t3_status but T3_OK, T3_STUCK, T3_TIMEOUT, "
                      "T3_ABORTED and T3_STALE, as t3_refuse gives it, expected",
                      kernel.name, check.code)};
}

/// Nobody else is at what the kernel reads or writes.
KernelQueue::Refusal KernelQueue::check_ranges() const {
  for (const auto& [ranges, does] : {std::pair{&writes_, "writes"}, std::pair{&reads_, "reads"}})
    for (const OutputRange& range : *ranges) {
      const std::string kernel = fmt::format("the kernel {} {:#x} to {:#x}", does, range.begin, range.end - 1);
      if (range.overlaps(ring()))
        return {Status::bad_packet,
                fmt::format("{}: its queue's packets are at {:#x} to {:#x}", kernel, ring().begin, ring().end - 1)};
      std::string found;
      for (int i = 0; i < cluster_.users.size() && found.empty(); ++i) found = cluster_.users[i]->use_of(range);
      for (int i = 0; i < cluster_.map_holders.size() && found.empty(); ++i)
        found = cluster_.map_holders[i]->kept_in(range);
      if (found.empty()) found = cluster_.use_beside(*this, range, ranges == &writes_);
      if (!found.empty())
        return {Status::busy, fmt::format("{}: {}, and no kernel runs there before that has ended", kernel, found)};
    }
  return {};
}

/// What another queue has run beside this packet, by chance before it, might as well have come behind it.
KernelQueue::Refusal KernelQueue::check_order() const {
  const auto shared = [](const std::vector<OutputRange>& ranges, const std::vector<OutputRange>& others) {
    return std::find_if(ranges.begin(), ranges.end(), [&others](const OutputRange& range) {
      return std::any_of(others.begin(), others.end(), [&range](const OutputRange& o) { return range.overlaps(o); });
    });
  };
  const auto text = [this](const OutputRange& range, const char* does, const ComputeCluster::Ended& ended,
                           const char* did) {
    return Refusal{Status::busy,
                   fmt::format("the kernel {} {:#x} to {:#x}: queue {} has run kernel {}, which {} there and ended at "
                               "{:.3f} ns, when this one had been announced at {:.3f} ns: one of them announced behind "
                               "the other's end expected",
                               does, range.begin, range.end - 1, ended.queue, ended.kernel, did, to_ns(ended.end),
                               to_ns(announced_.front()))};
  };
  for (const ComputeCluster::Ended& ended : cluster_.ended_) {
    if (ended.queue == number_ || ended.end <= announced_.front()) continue;
    if (const auto range = shared(writes_, ended.writes); range != writes_.end())
      return text(*range, "writes", ended, "wrote");
    if (const auto range = shared(writes_, ended.reads); range != writes_.end())
      return text(*range, "writes", ended, "read");
    if (const auto range = shared(reads_, ended.writes); range != reads_.end())
      return text(*range, "reads", ended, "wrote");
  }
  return {};
}

/// Maps are about wavefront tiles, which a kernel's stores name, or not.
KernelQueue::Refusal KernelQueue::check_maps(const t3_plan& plan) const {
  if (plan.tiles_named == T3_TILES_NAMED) return {};
  const char* const how = plan.tiles_named == T3_TILES_FORGOTTEN
                              ? "stores through the cache, which forgets the wavefront tiles"
                              : "names no wavefront tiles";
  for (const OutputRange& range : writes_)
    for (int i = 0; i < cluster_.map_holders.size(); ++i)
      if (const std::string found = cluster_.map_holders[i]->in_the_way(range, plan.stores_here); !found.empty())
        return {Status::mismatch,
                fmt::format("the kernel works on {:#x} to {:#x} and {}: {}", range.begin, range.end - 1, how, found)};
  return {};
}

/// What neighbours have stored for a ring kernel is not overwritten before it has run.
KernelQueue::Refusal KernelQueue::check_arrivals() const {
  for (const OutputRange& range : writes_)
    for (int i = 0; i < cluster_.arrivals.size(); ++i)
      if (const std::string found = cluster_.arrivals[i]->use_of(range); !found.empty())
        return {Status::busy, fmt::format("the kernel writes {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

/// What is mapped and read has arrived.
KernelQueue::Refusal KernelQueue::check_reads() const {
  for (const OutputRange& range : reads_)
    for (int i = 0; i < cluster_.map_holders.size(); ++i)
      if (const std::string found = cluster_.map_holders[i]->in_the_way(range, false); !found.empty())
        return {Status::busy, fmt::format("the kernel reads {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

}  // namespace t3vp::compute
