#include "compute/launch_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "compute/compute_cluster.h"
#include "protocol/address_map.h"
#include "registers/signals.h"
#include "t3/address.h"
#include "t3/check.h"

namespace t3vp::compute {
namespace {
constexpr std::uint32_t argument_alignment = 32, known_flags = T3_KERNEL_PACKET_FLAGS_BARRIER |
                                                               T3_KERNEL_PACKET_FLAGS_WAIT |
                                                               T3_KERNEL_PACKET_FLAGS_RELEASE;

/// Returns whether a kernel's check may return this code. The other codes are those of waits, contexts and kernels that
/// have run.
bool is_refusal(std::uint32_t code) {
  constexpr Status of_others[] = {Status::ok, Status::stuck, Status::timeout, Status::aborted, Status::stale};
  const auto is_listed = [code](const auto& list) {
    return std::find(std::begin(list), std::end(list), static_cast<Status>(code)) != std::end(list);
  };
  return is_listed(status_values) && !is_listed(of_others);
}
}  // namespace

Refusal LaunchChecks::header(const t3_kernel_packet& packet, std::uint64_t address) const {
  const bool waits = (packet.flags & T3_KERNEL_PACKET_FLAGS_WAIT) != 0;
  const t3_kernel* const kernel = context_.kernels.find(packet.kernel);
  if (kernel == nullptr && !waits)
    return refused(Status::bad_packet, "kernel {:#010x}: one of {} expected", packet.kernel, context_.kernels.text());
  if ((packet.flags & ~known_flags) != 0)
    return refused(Status::bad_packet, "flags {:#x}: {:#x} mean nothing, 0 expected", packet.flags,
                   packet.flags & ~known_flags);
  if (const Refusal wrong = counter(packet)) return wrong;
  if (waits) return wait(packet);
  if (packet.argument_bytes != kernel->arguments.bytes)
    return refused(Status::bad_packet, "argument_bytes {}: the {} of kernel {} expected", packet.argument_bytes,
                   kernel->arguments.bytes, kernel->name);
  return place_of_arguments(packet, address);
}

Refusal LaunchChecks::counter(const t3_kernel_packet& packet) const {
  const bool is_counter =
      packet.completion_signal < registers::Signals::value_count && packet.completion_signal != T3_SIGNAL_BARRIER;
  if (is_counter || packet.completion_signal == T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE) return {};
  return refused(Status::bad_packet,
                 "completion_signal {}: a counter below {} that is not the barrier's, {}, or {:#x} for none, expected",
                 packet.completion_signal, registers::Signals::value_count, T3_SIGNAL_BARRIER,
                 T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE);
}

/// A packet that waits for what has been announced before it: no two queues wait for each other.
Refusal LaunchChecks::wait(const t3_kernel_packet& packet) const {
  if (packet.kernel != 0 || packet.argument_bytes != 0)
    return refused(Status::bad_packet, "kernel {:#010x}, argument_bytes {} of a packet that waits: 0 of both expected",
                   packet.kernel, packet.argument_bytes);
  if ((packet.flags & T3_KERNEL_PACKET_FLAGS_RELEASE) != 0)
    return refused(Status::bad_packet,
                   "flags {:#x}: release of a packet that waits, which has no kernel: none expected", packet.flags);
  if (packet.workgroups >= registers::KernelQueue::base_count || packet.workgroups == queue_)
    return refused(Status::bad_packet, "a packet of queue {} waits for queue {}: another one below {} expected", queue_,
                   packet.workgroups, registers::KernelQueue::base_count);
  const std::uint64_t announced = context_.cluster.announced(packet.workgroups);
  if (packet.arguments > announced)
    return refused(Status::bad_packet,
                   "a packet waits for packet {} of queue {}: one that has been announced, 1 to {}, "
                   "expected",
                   packet.arguments, packet.workgroups, announced);
  return {};
}

Refusal LaunchChecks::place_of_arguments(const t3_kernel_packet& packet, std::uint64_t packet_address) const {
  const std::uint64_t address = packet.arguments, bytes = packet.argument_bytes;
  const std::uint64_t begin = address_map::on_gpu(host_.gpu(), 0), end = begin + host_.parameters().memory_bytes;
  const OutputRange ring = ring_.range();
  if (address % argument_alignment != 0)
    return refused(Status::bad_packet, "arguments {:#x}: a multiple of {} expected", address, argument_alignment);
  if (address < begin || address >= end || bytes > end - address)
    return refused(Status::bad_packet, "arguments {:#x} of {} bytes: in the memory of GPU {}, {:#x} to {:#x}, expected",
                   address, bytes, host_.gpu(), begin, end - 1);
  if (ring.overlaps(address, bytes) && !come_with_packet(packet, packet_address))
    return refused(Status::bad_packet,
                   "arguments {:#x} of {} bytes: behind the packet in its entry, {:#x} to {:#x}, or outside of the "
                   "ring at {:#x} to {:#x}, expected",
                   address, bytes, packet_address + T3_KERNEL_PACKET_BYTES,
                   packet_address + PacketRing::entry_bytes - 1, ring.begin, ring.end - 1);
  return {};
}

bool LaunchChecks::come_with_packet(const t3_kernel_packet& packet, std::uint64_t address) {
  const std::uint64_t begin = address + T3_KERNEL_PACKET_BYTES, end = address + PacketRing::entry_bytes;
  return packet.arguments >= begin && packet.arguments + packet.argument_bytes <= end;
}

Refusal LaunchChecks::launch(const t3_kernel& kernel, const t3_device& device, const t3_launch& launch) const {
  t3_check& check = *new (context_.lent[0].lend(sizeof(t3_check))) t3_check{};
  check.device = &device;
  check.gpu = host_.gpu();
  check.functional = host_.functional();
  check.memory_bytes = host_.parameters().memory_bytes;
  check.counters = registers::Signals::value_count;
  check.cluster = &context_.memory;
  check.reaches = [](void* memory, std::uint64_t address) {
    return static_cast<DataInitiatorBase*>(memory)->reaches(address);
  };
  bool accepted = false;
  {
    KernelTime time(host_, {kernel.name, "its check"});
    accepted = kernel.check(&check, &launch);
  }
  if (const char* where = context_.lent[0].written_beside())
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

Refusal LaunchChecks::gates(const std::vector<Gate>& gates, const t3_plan& plan) const {
  if (!gates.empty() && plan.together)
    return {Status::bad_packet,
            gates.front().text() + ": the kernel's workgroups wait for each other, and none of them is held"};
  for (const Gate& gate : gates)
    if (gate.first >= plan.workgroups || gate.workgroups > plan.workgroups - gate.first)
      return refused(Status::bad_packet, "{}: some of the kernel's {} expected", gate.text(), plan.workgroups);
  return {};
}

Refusal LaunchChecks::ranges(const KernelRanges& ranges, const t3_plan& given, bool is_gated) const {
  t3_plan plan = given;
  plan.awaits_chunks |= is_gated;  // the gates await them
  Refusal found = use(ranges, plan);
  if (!found) found = order(ranges, plan);
  if (!found) found = maps(ranges, plan);
  if (!found && !plan.awaits_chunks) found = reads(ranges);
  return !found && !plan.awaits_arrivals ? arrivals(ranges) : found;
}

/// Refuses a launch when another user accesses what the kernel reads or writes.
Refusal LaunchChecks::use(const KernelRanges& ranges, const t3_plan& plan) const {
  const OutputRange ring = ring_.range();
  for (const auto& [all, does] : {std::pair{&ranges.writes, "writes"}, std::pair{&ranges.reads, "reads"}})
    for (const OutputRange& range : *all) {
      const std::string kernel = fmt::format("the kernel {} {:#x} to {:#x}", does, range.begin, range.end - 1);
      if (range.overlaps(ring))
        return {Status::bad_packet,
                fmt::format("{}: its queue's packets are at {:#x} to {:#x}", kernel, ring.begin, ring.end - 1)};
      const auto& users = context_.cluster.users;
      const auto& holders = context_.cluster.map_holders;
      std::string found;
      for (int i = 0; i < users.size() && found.empty(); ++i) found = users[i]->use_of(range);
      for (int i = 0; i < holders.size() && found.empty(); ++i) found = holders[i]->kept_in(range);
      const bool awaits = plan.awaits_chunks && all == &ranges.reads;
      if (found.empty() && !awaits) found = context_.cluster.use_beside(queue_, range, all == &ranges.writes);
      if (!found.empty())
        return {Status::busy, fmt::format("{}: {}, and no kernel runs there before that has ended", kernel, found)};
    }
  return {};
}

/// Another queue's kernel that has run before this packet only by chance might as well have come after it.
Refusal LaunchChecks::order(const KernelRanges& ranges, const t3_plan& plan) const {
  const Picoseconds announced = ring_.oldest_announced();
  const auto shared = [](const std::vector<OutputRange>& some, const std::vector<OutputRange>& others) {
    return std::find_if(some.begin(), some.end(), [&others](const OutputRange& range) {
      return std::any_of(others.begin(), others.end(), [&range](const OutputRange& o) { return range.overlaps(o); });
    });
  };
  const auto text = [&](const OutputRange& range, const char* does, const KernelHistory::Ended& ended,
                        const char* did) {
    return Refusal{Status::busy,
                   fmt::format("the kernel {} {:#x} to {:#x}: queue {} has run kernel {}, which {} there and ended at "
                               "{:.3f} ns, when this one had been announced at {:.3f} ns: one of them announced behind "
                               "the other's end expected",
                               does, range.begin, range.end - 1, ended.queue, ended.kernel, did, to_ns(ended.end),
                               to_ns(announced))};
  };
  for (const KernelHistory::Ended& ended : context_.history.ended()) {
    if (ended.queue == queue_ || ended.end <= announced) continue;
    if (context_.cluster.is_behind(queue_, ended.queue, ended.packet)) continue;
    if (const auto range = shared(ranges.writes, ended.writes); range != ranges.writes.end())
      return text(*range, "writes", ended, "wrote");
    if (const auto range = shared(ranges.writes, ended.reads); range != ranges.writes.end())
      return text(*range, "writes", ended, "read");
    if (const auto range = shared(ranges.reads, ended.writes); range != ranges.reads.end() && !plan.awaits_chunks)
      return text(*range, "reads", ended, "wrote");
  }
  return {};
}

/// Maps are about wavefront tiles, which a kernel's stores name, or not.
Refusal LaunchChecks::maps(const KernelRanges& ranges, const t3_plan& plan) const {
  if (plan.tiles_named == T3_TILES_NAMED) return {};
  const char* const how = plan.tiles_named == T3_TILES_FORGOTTEN
                              ? "stores through the cache, which forgets the wavefront tiles"
                              : "names no wavefront tiles";
  const auto& holders = context_.cluster.map_holders;
  for (const OutputRange& range : ranges.writes)
    for (int i = 0; i < holders.size(); ++i)
      if (const std::string found = holders[i]->in_the_way(range, plan.stores_here); !found.empty())
        return {Status::mismatch,
                fmt::format("the kernel works on {:#x} to {:#x} and {}: {}", range.begin, range.end - 1, how, found)};
  return {};
}

/// Refuses reads of mapped memory that has not arrived completely.
Refusal LaunchChecks::reads(const KernelRanges& ranges) const {
  const auto& holders = context_.cluster.map_holders;
  for (const OutputRange& range : ranges.reads)
    for (int i = 0; i < holders.size(); ++i)
      if (const std::string found = holders[i]->in_the_way(range, false); !found.empty())
        return {Status::busy, fmt::format("the kernel reads {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

/// Neighbours' stores for a ring kernel must not be overwritten before it has run.
Refusal LaunchChecks::arrivals(const KernelRanges& ranges) const {
  const auto& arrivals = context_.cluster.arrivals;
  for (const OutputRange& range : ranges.writes)
    for (int i = 0; i < arrivals.size(); ++i)
      if (const std::string found = arrivals[i]->use_of(range); !found.empty())
        return {Status::busy, fmt::format("the kernel writes {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

}  // namespace t3vp::compute
