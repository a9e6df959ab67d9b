#include "progress/program_activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "registers/catalogue.h"
#include "t3/t3.h"

namespace t3vp {
namespace {

/// What a program does, in words.
struct ToldProgram {
  bool is_wait = false;
  std::string text;

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.is_wait, self.text);
  }
};

constexpr std::uint64_t told_from = 16;    // reads of one value that make a poll, and rises of a line
constexpr Picoseconds lately = 1'000'000;  // a handler may take so long

/// "tracker.status" or "memory".
std::string name_at(std::uint64_t address) {
  if (address_map::is_hbm(address)) return "memory";
  const std::uint64_t local = address_map::local_of(address);
  for (const registers::CatalogueEntry& entry : registers::catalogue) {
    const std::uint64_t offset = local - address_map::block_base(entry.block);
    for (const RegisterDescription& r : entry.description.registers) {
      const std::uint64_t within = offset - r.offset, stride = std::max<std::uint64_t>(r.stride, r.bytes);
      if (within >= r.count * stride || within % stride >= r.bytes) continue;  // arrays may lie in each other's gaps
      const std::string name = fmt::format("{}.{}", entry.description.name, r.name);
      return r.count == 1 ? name : fmt::format("{}[{}]", name, within / stride);
    }
  }
  const std::uint64_t window = (local - address_map::registers_base) / address_map::block_bytes;
  if (local >= address_map::block_base(address_map::Block::plugin_0) && window < address_map::block_count)
    return fmt::format("{}+{:#x}", name_of(static_cast<address_map::Block>(window)), local % address_map::block_bytes);
  return "nothing that is there";
}

/// "error_log, cache": the lines of a value of the interrupt controller's registers.
std::string names_of_lines(std::uint64_t lines) {
  std::string names;
  for (std::size_t i = 0; i < address_map::line_count; ++i)
    if ((lines >> i & 1) != 0)
      names += (names.empty() ? "" : ", ") + std::string(name_of(static_cast<address_map::Line>(i)));
  return names;
}

/// Whether the same lines have come up again and again until now: their handlers may cause what they are called for.
bool is_served_over_and_over(const processor::Processor& processor) {
  const processor::Processor::Service& service = processor.service();
  if (service.times < told_from) return false;
  const Picoseconds interval = (service.last - service.first) / (service.times - 1);
  return now() <= service.last + 2 * interval + lately;
}

/// The interrupt of the signals block is for one counter. A program that has written signals.watch itself is not
/// notified of the counter that the driver waits for.
std::string watched(const Gpu& gpu) {
  if ((gpu.interrupts.enable.value() & address_map::bit_of(address_map::Line::signals)) == 0) return {};
  const std::uint64_t index = gpu.signals.registers.watch.index();
  if (index == T3_SIGNAL_BARRIER || index >= gpu.signals.registers.value.size()) return {};
  return fmt::format(
      "; signals.watch names counter {}, which is {}: nothing tells of counter {}, the barrier's, which "
      "is {}",
      index, gpu.signals.registers.value[index].value(), T3_SIGNAL_BARRIER,
      gpu.signals.registers.value[T3_SIGNAL_BARRIER].value());
}

}  // namespace

std::string activity_of(const Gpu& gpu) {
  const processor::Processor& processor = gpu.processor;
  if (processor.finished()) return {};
  if (is_served_over_and_over(processor))
    return fmt::format(
        "GPU {} firmware serves interrupts over and over: its handlers have found line {} up {} times "
        "in a row, the last time at {:.3f} ns",
        processor.gpu(), names_of_lines(processor.service().lines), processor.service().times,
        to_ns(processor.service().last));
  const processor::Processor::Poll& poll = processor.poll();
  if (!processor.awaits_interrupt() && poll.reads >= told_from)
    return fmt::format("GPU {} firmware polls: it has read {} at {:#x} {} times, always {:#x}", processor.gpu(),
                       name_at(poll.address), poll.address, poll.reads, poll.value);
  if (processor.waits_for().empty() && processor.serves_since() != never)
    return fmt::format("GPU {} firmware has not returned from an interrupt that it takes since {:.3f} ns",
                       processor.gpu(), to_ns(processor.serves_since()));
  if (processor.waits_for().empty()) return {};
  return fmt::format("GPU {} firmware waits for {}{}", processor.gpu(), processor.waits_for(), watched(gpu));
}

std::string firmware_activity(const AllGpus& all) {
  std::string first_wait, first_poll;
  for (ToldProgram& told : all.ask([](const Gpu& gpu) {
         return ToldProgram{gpu.processor.awaits_interrupt(), activity_of(gpu)};
       })) {
    std::string& first = told.is_wait ? first_wait : first_poll;
    if (first.empty()) first = std::move(told.text);
  }
  return (first_poll.empty() ? "" : "; " + first_poll) + (first_wait.empty() ? "" : "; " + first_wait);
}

}  // namespace t3vp
