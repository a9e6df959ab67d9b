#include "compute/kernel_launch.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "compute/device_mistakes.h"

namespace t3vp::compute {
namespace {

std::vector<OutputRange> ranges_of(const t3_range* ranges, std::uint32_t count) {
  std::vector<OutputRange> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({ranges[i].begin, ranges[i].end});
  return all;
}

/// The data that the kernel's functions read before it runs.
class Handed {
 public:
  Handed(const t3_device& device, const t3_launch& launch, std::uint32_t bytes)
      : device_(device), launch_(launch), known_device_(device), known_launch_(launch) {
    const auto* const arguments = static_cast<const unsigned char*>(launch.arguments);
    known_arguments_.assign(arguments, arguments + bytes);
  }
  bool is_changed() const {
    return std::memcmp(&device_, &known_device_, sizeof device_) != 0 ||
           std::memcmp(&launch_, &known_launch_, sizeof launch_) != 0 ||
           std::memcmp(known_launch_.arguments, known_arguments_.data(), known_arguments_.size()) != 0;
  }

 private:
  const t3_device& device_;
  const t3_launch& launch_;
  t3_device known_device_;
  t3_launch known_launch_;
  std::vector<unsigned char> known_arguments_;
};

}  // namespace

KernelLaunch::KernelLaunch(KernelHost& host, const LaunchChecks& checks, const Means& means, WorkgroupSlots& slots,
                           registers::KernelQueue& registers, std::uint8_t queue)
    : host_(host), checks_(checks), means_(means), slots_(slots), registers_(registers), queue_(queue) {}

void KernelLaunch::begin(std::uint64_t packet_address) {
  completion_signal_ = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;
  packet_address_ = packet_address;
}

Refusal KernelLaunch::take_packet(const unsigned char* entry) {
  packet_ = t3_kernel_packet_from(entry);
  if (Refusal wrong = checks_.header(packet_, packet_address_)) return wrong;
  completion_signal_ = packet_.completion_signal;
  launch_time_ = now() + host_.parameters().launch_latency;
  return {};
}

/// The kernel's `read` writes to fenced memory first.
Refusal KernelLaunch::read_arguments(const t3_kernel& kernel, const unsigned char* bytes, KernelArguments& arguments) {
  void* const read = means_.lent[0].lend(kernel.arguments.size);
  std::memset(read, 0, kernel.arguments.size);  // with its padding
  {
    KernelTime time(host_, {kernel.name, "its arguments' `read`"});
    kernel.arguments.read(read, bytes);
  }
  if (const char* where = means_.lent[0].written_beside())
    return {Status::bad_packet,
            fmt::format("kernel {}: its arguments' `read` writes {} a structure of {} bytes: the size of what "
                        "it writes expected",
                        kernel.name, where, kernel.arguments.size)};
  std::memcpy(arguments.data(), read, kernel.arguments.size);
  return {};
}

/// The first of those that the queue's mask has.
void KernelLaunch::choose_units() {
  constexpr std::uint32_t words = registers::KernelQueue::cu_mask_count / registers::KernelQueue::base_count;
  std::vector<std::uint64_t> mask(words);
  for (std::uint32_t word = 0; word < words; ++word) mask[word] = registers_.cu_mask[words * queue_ + word].value();
  slots_.choose_units(mask,
                      packet_.max_compute_units == 0 ? host_.parameters().compute_units : packet_.max_compute_units);
}

Refusal KernelLaunch::make(const unsigned char* bytes, const std::vector<Gate>& gates,
                           std::unique_ptr<KernelRun>& made) {
  const ComputeParameters& parameters = host_.parameters();
  const auto bad_packet = [](std::string text) { return Refusal{Status::bad_packet, std::move(text)}; };
  left_floats_ = nullptr;
  const t3_kernel& kernel = *means_.kernels.find(packet_.kernel);
  KernelArguments arguments((kernel.arguments.size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  if (Refusal found = read_arguments(kernel, bytes, arguments)) return found;
  t3_device device = device_of(parameters);  // not const: what is may be taken for unchanged
  choose_units();
  t3_launch launch{arguments.data(), packet_.workgroups, slots_.allowed_units()};
  if (launch.compute_units == 0)
    return bad_packet(fmt::format("cu_mask of queue {}: one of the {} compute units at least expected", queue_,
                                  parameters.compute_units));
  const Handed handed(device, launch, kernel.arguments.size);
  if (Refusal found = checks_.launch(kernel, device, launch)) return found;
  t3_plan plan{};
  std::string name;  // the text is the kernel's
  {
    KernelTime time(host_, {kernel.name, "its plan"});
    plan = kernel.plan(&device, &launch);
    if (plan.name != nullptr) name = plan.name;
  }
  if (handed.is_changed())
    return bad_packet(
        fmt::format("kernel {}: its check or plan has changed its arguments, the struct t3_device or the "
                    "struct t3_launch: the same expected",
                    kernel.name));
  if (const Refusal wrong = validate_plan(plan, host_.gpu(), parameters.memory_bytes))
    return bad_packet(fmt::format("kernel {}: {}", kernel.name, wrong.text));
  if (packet_.workgroups != 0 && packet_.workgroups != plan.workgroups)
    return bad_packet(fmt::format("workgroups {}: the {} of kernel {}'s work, or 0 for all, expected",
                                  packet_.workgroups, plan.workgroups, kernel.name));
  plan.workgroups_per_cu = resident_workgroups(plan, device);
  if (const Refusal wrong = validate_residency(plan, device, launch.compute_units))
    return bad_packet(fmt::format("kernel {}: {}", kernel.name, wrong.text));
  ranges_ = {ranges_of(plan.written, plan.written_count), ranges_of(plan.read, plan.read_count)};
  if (Refusal found = checks_.gates(gates, plan)) return found;
  if (Refusal found = checks_.ranges(ranges_, plan, !gates.empty())) return found;
  RingAgreement agreement = agreement_of(host_, kernel, arguments.data(), plan.workgroups, means_.lent);
  if (handed.is_changed()) agreement.mistake = "its agreement has changed its arguments: the same expected";
  if (!agreement.mistake.empty()) return bad_packet(fmt::format("kernel {}: {}", kernel.name, agreement.mistake));
  if (left_floats_ != nullptr)
    return bad_packet(fmt::format("kernel {}: {} leaves {}", kernel.name, left_floats_, other_floats));
  made = std::make_unique<KernelRun>(host_, means_.stacks, means_.lent_tiles, kernel, std::move(arguments), plan,
                                     std::move(name), std::move(agreement));
  return {};
}

}  // namespace t3vp::compute
