#include "compute/ring_agreement.h"

#include <fmt/format.h>

#include <new>

#include "compute/guest_bool.h"

namespace t3vp::compute {
namespace {

Refusal validate(const t3_agreement& agreement) {
  if (agreement.count > T3_PROPERTIES_MAX || agreement.receiver >= agreement.gpus)
    return refused(Status::bad_packet,
                   "an agreement of {} properties with GPU {} of {}: up to {}, and a GPU of the ring, expected",
                   agreement.count, agreement.receiver, agreement.gpus, static_cast<int>(T3_PROPERTIES_MAX));
  for (std::uint32_t i = 0; i < agreement.count; ++i) {
    const t3_property& property = agreement.properties[i];
    if (property.name == nullptr)
      return refused(Status::bad_packet, "an agreement whose property {} has no name", i + 1);
    if (!is_bool(property.is_address))
      return refused(Status::bad_packet, "an agreement whose property {} has an is_address of {}: {} expected", i + 1,
                     byte_of(property.is_address), a_bool);
  }
  return {};
}

std::shared_ptr<RingSignal> signal_of(const KernelHost& host, const t3_agreement& agreement, std::uint32_t workgroups) {
  auto signal = std::make_shared<RingSignal>();
  signal->receiver = agreement.receiver;
  signal->gpus = agreement.gpus;
  signal->workgroups = workgroups;
  signal->sender = host.gpu();
  signal->generation = host.reset_count();
  signal->begun = now();
  for (std::uint32_t i = 0; i < agreement.count; ++i) {
    const t3_property& property = agreement.properties[i];
    const char* const text = property.text != nullptr ? property.text : "";
    signal->properties.push_back({property.name, property.value, text, property.is_address});
  }
  return signal;
}

}  // namespace

/// The texts are the kernel's, and copied on its account.
RingAgreement agreement_of(KernelHost& host, const t3_kernel& kernel, const void* arguments, std::uint32_t workgroups,
                           std::array<FencedMemory, 2>& lent) {
  if (kernel.agree == nullptr) return {};
  KernelTime time(host, {kernel.name, "its agreement"});
  auto* const sent = new (lent[0].lend(sizeof(t3_agreement))) t3_agreement{};
  auto* const expected = new (lent[1].lend(sizeof(t3_agreement))) t3_agreement{};
  kernel.agree(arguments, sent, expected);
  for (const FencedMemory& memory : lent)
    if (const char* where = memory.written_beside())
      return {nullptr, nullptr, fmt::format("its agreement writes {} a struct t3_agreement", where)};
  for (const t3_agreement* agreement : {sent, expected})
    if (Refusal wrong = validate(*agreement)) return {nullptr, nullptr, std::move(wrong.text)};
  return {signal_of(host, *sent, workgroups), signal_of(host, *expected, workgroups), {}};
}

}  // namespace t3vp::compute
