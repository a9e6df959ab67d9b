#include "run/fault_outcomes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/buffer_access.h"

namespace t3vp {
namespace {

FaultOutcome outcome(const char* name, const std::string& struck, const std::string& did_not) {
  return {name, !struck.empty(), struck.empty() ? did_not : struck};
}

FaultOutcome updates_lost(const Faults::LoseUpdates& fault, const memory::FaultyAccess& memory) {
  const char* from = !fault.what.peers ? " of its own blocks" : !fault.what.local ? " of a peer" : "";
  return outcome(
      "lose_updates",
      memory.lost().empty()
          ? ""
          : fmt::format("GPU {}'s memory counted but did not add {} elements of updates{}, the first in the {}",
                        fault.gpu, memory.lost_elements(), from, memory.lost()),
      fmt::format("no update{} arrived at GPU {}'s memory", from, fault.gpu));
}

FaultOutcome bit_flipped(const Faults::FlipBit& fault, const memory::FaultyAccess& memory) {
  if (memory.flipped().empty() && fault.what.access < memory.accesses())
    return outcome("flip_bit", "",
                   fmt::format("access {} to tensor data at GPU {}'s memory had no bit {}", fault.what.access,
                               fault.gpu, fault.what.bit));
  return outcome("flip_bit",
                 memory.flipped().empty() ? ""
                                          : fmt::format("GPU {}'s memory flipped bit {} in access {}, the {}",
                                                        fault.gpu, fault.what.bit, fault.what.access, memory.flipped()),
                 fmt::format("GPU {}'s memory accepted {} accesses to tensor data, numbered from 0", fault.gpu,
                             memory.accesses()));
}

FaultOutcome wrongly_rounded(std::uint32_t number, const Gpu& gpu) {
  const std::string& near_memory = gpu.memory.faults()->rounded();
  const std::string& first = near_memory.empty() ? gpu.compute.wrongly_rounded() : near_memory;
  return outcome(
      "wrong_rounding",
      first.empty() ? "" : fmt::format("GPU {} rounded sums toward zero, first that of the {}", number, first),
      fmt::format("GPU {} added nothing that needs rounding up", number));
}

FaultOutcome packet_dropped(const Faults::DropPacket& fault, const interconnect::Link& link) {
  const std::string name = fmt::format("link {} from {} to {}", fault.link, link.from().text(), link.to().text());
  return outcome(
      "drop_packet",
      link.dropped().empty() ? "" : fmt::format("{} lost its packet {}, the {}", name, fault.packet, link.dropped()),
      fmt::format("{} carried {} packets, numbered from 0", name, link.packets()));
}

/// An acknowledgement that is lost is no loss where a later one stands for it.
std::string recovery_of(const nic::Wire& wire, const Resending& resending) {
  if (wire.struck() == 0 || !resending.has_ended) return {};
  if (resending.packets == 0) return wire.struck_requests() == 0 ? "no packet had to be sent again" : "";
  return fmt::format("{} packet{} sent again", resending.packets, resending.packets == 1 ? "" : "s");
}

FaultOutcome packets_dropped(const Faults::DropPackets& fault, const nic::Wire& wire, const Resending& resending) {
  FaultOutcome lost = outcome(
      "drop_packets",
      wire.struck() == 0 ? ""
                         : fmt::format("the wire lost the first {} packet{} that GPU {}'s NIC sent, first the {}",
                                       wire.struck(), wire.struck() == 1 ? "" : "s", fault.gpu, wire.first_struck()),
      fmt::format("GPU {}'s NIC sent nothing", fault.gpu));
  lost.recovery = recovery_of(wire, resending);
  return lost;
}

}  // namespace

void WrongElement::strike(const RunConfiguration& c, const Node& node) {
  if (!c.faults.wrong_element) return;
  const auto [number, index] = *c.faults.wrong_element;
  Gpu& gpu = *node.gpus()[number];
  const auto& buffers = gpu.processor.buffers();
  const auto out =
      std::find_if(buffers.begin(), buffers.end(), [](const processor::PublishedBuffer& b) { return b.name == "out"; });
  if (out == buffers.end()) return;
  const auto row = static_cast<std::uint32_t>(index / out->columns);
  const std::uint64_t column = index % out->columns;
  std::vector<float> before(out->columns), after(out->columns);
  read_row(gpu, *out, row, before.data());
  std::vector<unsigned char> bytes(std::size_t{out->columns} * bytes_of(out->element));
  transfer(gpu, tlm::TLM_READ_COMMAND, *out, row, bytes.data());
  if (std::isnan(before[column]))  // every other of its bits is as well no number
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(column * bytes_of(out->element)), bytes_of(out->element),
                static_cast<unsigned char>(0));
  else
    bytes[column * bytes_of(out->element)] ^= 1;  // the smallest change there is
  transfer(gpu, tlm::TLM_WRITE_COMMAND, *out, row, bytes.data());
  read_row(gpu, *out, row, after.data());
  text_ = fmt::format("element {} of GPU {}'s out, row {}, column {}, was changed from {} to {} after the run", index,
                      number, row, column, before[column], after[column]);
}

Resending resending_of(const Node& node) {
  Resending resending;
  for (const auto& gpu : node.gpus()) {
    if (gpu->nic == nullptr) continue;
    resending.packets += gpu->nic->resent();
    resending.has_ended = resending.has_ended && !gpu->nic->has_work();
  }
  return resending;
}

std::vector<FaultOutcome> fault_outcomes(const RunConfiguration& c, const Node& node, const WrongElement& wrong_element,
                                         const Resending& resending) {
  const Faults& f = c.faults;
  std::vector<FaultOutcome> list;
  const auto gpu = [&node](std::uint32_t number) -> const Gpu& { return *node.gpus()[number]; };
  if (f.dma_map_updates)
    list.push_back({"dma_map_updates", f.dma_map_updates != c.workload->updates(c),
                    fmt::format("the programs told dma_map to expect {} updates per element, there are {}",
                                *f.dma_map_updates, c.workload->updates(c).value_or(0))});
  if (f.lose_updates) list.push_back(updates_lost(*f.lose_updates, *gpu(f.lose_updates->gpu).memory.faults()));
  if (f.flip_bit) list.push_back(bit_flipped(*f.flip_bit, *gpu(f.flip_bit->gpu).memory.faults()));
  if (f.wrong_rounding) list.push_back(wrongly_rounded(*f.wrong_rounding, gpu(*f.wrong_rounding)));
  if (f.drop_packet) list.push_back(packet_dropped(*f.drop_packet, *node.links()[f.drop_packet->link]));
  if (f.drop_packets) list.push_back(packets_dropped(*f.drop_packets, *node.wire(), resending));
  if (f.wrong_element)
    list.push_back(outcome("wrong_element", wrong_element.text(), "the run did not come to its end"));
  return list;
}

}  // namespace t3vp
