// Packets in memory. Of an even first byte: packets of a queue of kernels, 128 bytes each, up to four, and what is
// behind them, which their arguments may name. Of an odd one: work entries of a NIC's queue pair, 64 bytes each, up to
// eight.
#include <fmt/format.h>

#include <algorithm>

#include "fuzz/scripted_node.h"

namespace {

using namespace t3vp;
using test::require;

constexpr const char* connections[] = {"gpu0.nic.region_base = 0x20000",
                                       "gpu0.nic.region_bytes = 65536",
                                       "gpu0.nic.region_access = 31",
                                       "gpu0.nic.command.action = register_region",
                                       "gpu1.nic.region_base = 0x100000020000",
                                       "gpu1.nic.region_bytes = 65536",
                                       "gpu1.nic.region_access = 31",
                                       "gpu1.nic.command.action = register_region",
                                       "gpu0.nic.completion_entries[0] = 16",
                                       "gpu0.nic.completion_base[0] = 0x14000",
                                       "gpu0.nic.send_base[0] = 0x10000",
                                       "gpu0.nic.doorbell_record[0] = 0x12000",
                                       "gpu0.nic.send_entries[0] = 8",
                                       "gpu0.nic.peer[0] = {nic = 1, queue_pair = 0}",
                                       "gpu0.nic.state[0].now = init",
                                       "gpu0.nic.state[0].now = ready_to_receive",
                                       "gpu0.nic.state[0].now = ready_to_send",
                                       "gpu1.nic.completion_entries[0] = 16",
                                       "gpu1.nic.completion_base[0] = 0x100000014000",
                                       "gpu1.nic.send_base[0] = 0x100000010000",
                                       "gpu1.nic.doorbell_record[0] = 0x100000012000",
                                       "gpu1.nic.send_entries[0] = 8",
                                       "gpu1.nic.peer[0] = {nic = 0, queue_pair = 0}",
                                       "gpu1.nic.state[0].now = init",
                                       "gpu1.nic.state[0].now = ready_to_receive",
                                       "gpu1.nic.state[0].now = ready_to_send"};

/// How many packets of so many bytes have begun in what is left, one at least.
std::size_t packets_in(std::size_t bytes, std::size_t packet_bytes, std::size_t most) {
  return std::clamp((bytes + packet_bytes - 1) / packet_bytes, std::size_t{1}, most);
}

void run_kernels(test::ScriptedNode& node, const std::uint8_t* data, std::size_t bytes) {
  const std::size_t packets = packets_in(bytes, 128, 4);
  node.put(0, 0x10000, data, std::min<std::size_t>(bytes, 0x10000));
  require(node.execute("gpu0.kernel_queue.base[0] = 0x10000").failure.empty());
  require(node.execute("gpu0.kernel_queue.entries[0] = 4").failure.empty());
  require(node.execute(fmt::format("gpu0.kernel_queue.doorbell[0] = {}", packets)).failure.empty());
  node.await(fmt::format("expect gpu0.kernel_queue.completed[0] == {}", packets));
}

void run_messages(test::ScriptedNode& node, const std::uint8_t* data, std::size_t bytes) {
  const std::size_t entries = packets_in(bytes, 64, 8);
  for (const char* line : connections) require(node.execute(line).failure.empty());
  node.put(0, 0x10000, data, std::min<std::size_t>(bytes, 512));
  const std::uint8_t record[4] = {static_cast<std::uint8_t>(entries)};
  node.put(0, 0x12000, record, sizeof record);
  node.execute(fmt::format("gpu0.nic.doorbell[0] = {}", entries));
  node.await(fmt::format("expect gpu0.nic.finished[0] == {}", entries));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  if (bytes == 0) return 0;
  test::ScriptedNode& node = test::ScriptedNode::get();
  (data[0] % 2 == 0 ? run_kernels : run_messages)(node, data + 1, bytes - 1);
  node.reset();
  return 0;
}
