#include "moves.h"

#include <fmt/format.h>

#include "protocol/address_map.h"
#include "register_access/names/register_names.h"
#include "t3/arguments/gemm.h"
#include "t3/kernel_handle.h"
#include "t3/kernel_packet.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"

namespace t3vp {
namespace {

constexpr std::uint64_t output = 0x400000, factors = 0x800000, rings = 0x10000;
constexpr std::uint64_t send_ring = 0x30000, record = 0x38000, completions = 0x3A000, sent = 0xC00000;
constexpr std::uint32_t entries = 16;
constexpr std::uint32_t remove_all = 0x102;  // by force

}  // namespace

void Moves::move() {
  const std::uint64_t gpu = below(processors_.size());
  switch (below(6)) {
    case 0:
      return map_output(gpu);
    case 1:
    case 2:
      return queue_kernel(gpu);
    case 3:
      return connect(gpu);
    default:
      return post(gpu);
  }
}

std::uint64_t Moves::on(std::uint64_t gpu, std::uint64_t local) const { return address_map::on_gpu(gpu, local); }

std::uint64_t Moves::get(std::uint64_t gpu, const std::string& name) {
  const RegisterPlace place = find_register(name, gpu);
  std::uint64_t wide = 0;
  std::uint32_t narrow = 0;
  if (place.description->bytes == 8)
    processors_[gpu]->read64(place.address, wide);
  else
    processors_[gpu]->read32(place.address, narrow);
  return place.description->bytes == 8 ? wide : narrow;
}

void Moves::set(std::uint64_t gpu, const std::string& name, std::uint64_t value) {
  const RegisterPlace place = find_register(name, gpu);
  if (place.description->bytes == 8)
    processors_[gpu]->write64(place.address, value);
  else
    processors_[gpu]->write32(place.address, static_cast<std::uint32_t>(value));
}

void Moves::put(std::uint64_t gpu, std::uint64_t address, const std::vector<unsigned char>& bytes) {
  processors_[gpu]->write_memory(address, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
  processors_[gpu]->order_writes();
}

/// The first words of the output map, the Tracker and the DMA engine are the same.
void Moves::stage(std::uint64_t gpu, const std::string& block, std::uint64_t rows, std::uint64_t columns) {
  set(gpu, block + ".output_base", nearly(on(gpu, output)));
  set(gpu, block + ".row_stride", nearly(2 * columns));
  set(gpu, block + ".rows", nearly(rows));
  set(gpu, block + ".columns", nearly(columns));
  set(gpu, block + ".tile_rows", nearly(32));
  set(gpu, block + ".tile_columns", nearly(32));
  set(gpu, block + ".layout", nearly(4));
  set(gpu, block + ".first_workgroup", nearly(0));
  set(gpu, block + ".workgroups", nearly(rows * columns / 1024));
}

/// To be sent to the next GPU when all of it has been updated once or twice, or at once.
void Moves::map_output(std::uint64_t gpu) {
  const std::uint64_t rows = size(), columns = size(), peer = on((gpu + 1) % processors_.size(), output);
  if (one_in(4)) {
    stage(gpu, "output_map", rows, columns);
    set(gpu, "output_map.operation", nearly(1 + below(2)));
    set(gpu, "output_map.peer_base", nearly(peer));
    return set(gpu, "output_map.command", nearly(1));
  }
  if (one_in(2)) {
    set(gpu, "tracker.command", remove_all);
    set(gpu, "dma.command", remove_all);
    set(gpu, "tracker.spill_base", on(gpu, 0xF00000));
    set(gpu, "tracker.spill_entries", 1024);
  }
  stage(gpu, "tracker", rows, columns);
  set(gpu, "tracker.updates", nearly(1 + below(2)));
  set(gpu, "tracker.command", nearly(0x21));
  stage(gpu, "dma", rows, columns);
  set(gpu, "dma.block_tiles", nearly(std::uint64_t{1} << below(3)));
  set(gpu, "dma.destination_base", nearly(peer));
  set(gpu, "dma.command", nearly(0x01 | (1 + below(3)) << 4));
}

std::vector<unsigned char> Moves::packet(std::uint64_t gpu, std::uint64_t entry, const char* kernel,
                                         std::uint64_t argument_bytes) {
  t3_kernel_packet packet{};
  packet.kernel = static_cast<std::uint32_t>(nearly(t3_kernel_handle(kernel)));
  packet.arguments = nearly(on(gpu, entry + T3_KERNEL_PACKET_BYTES));
  packet.argument_bytes = static_cast<std::uint32_t>(nearly(argument_bytes));
  packet.completion_signal = static_cast<std::uint32_t>(nearly(T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE));
  packet.workgroups = static_cast<std::uint32_t>(nearly(0));
  std::vector<unsigned char> bytes(T3_KERNEL_PACKET_ENTRY_BYTES);
  t3_kernel_packet_to(&packet, bytes.data());
  return bytes;
}

/// Arguments that hardly ever fit.
std::vector<unsigned char> Moves::any_packet(std::uint64_t gpu, std::uint64_t entry) {
  std::size_t known = 0;
  while (kernels_[known] != nullptr) ++known;
  const t3_kernel& kernel = *kernels_[below(known)];
  std::vector<unsigned char> bytes = packet(gpu, entry, kernel.name, kernel.arguments.bytes);
  for (std::size_t at = T3_KERNEL_PACKET_BYTES; at + 8 <= bytes.size(); at += 4)
    t3_put_number(&bytes[at], one_in(3) ? 8 : 4, one_in(3) ? on(gpu, below(256) << 16) : below(4) << below(7));
  return bytes;
}

std::vector<unsigned char> Moves::gemm_packet(std::uint64_t gpu, std::uint64_t entry) {
  t3_gemm_arguments gemm{};
  gemm.m = static_cast<std::uint32_t>(size());
  gemm.n = static_cast<std::uint32_t>(size());
  gemm.k = static_cast<std::uint32_t>(size());
  gemm.out = nearly(on(gpu, output));
  gemm.a = nearly(on(gpu, factors));
  gemm.b = nearly(on(gpu, factors + 0x100000));
  gemm.ldo = gemm.ldb = static_cast<std::uint32_t>(nearly(2 * gemm.n));
  gemm.lda = static_cast<std::uint32_t>(nearly(2 * gemm.k));
  gemm.tile_rows = gemm.tile_columns = static_cast<std::uint16_t>(nearly(32));
  gemm.wavefronts = static_cast<std::uint8_t>(nearly(4));
  gemm.update = gemm.uncached = static_cast<std::uint8_t>(one_in(4) ? 0 : 1);
  std::vector<unsigned char> bytes = packet(gpu, entry, "gemm", T3_GEMM_ARGUMENTS_BYTES);
  t3_gemm_arguments_to(&gemm, &bytes[T3_KERNEL_PACKET_BYTES]);
  return bytes;
}

/// Behind the packets that the queue has had since its reset: as many as have completed, when it is not busy.
void Moves::queue_kernel(std::uint64_t gpu) {
  const std::uint64_t queue = below(4), base = rings + queue * 0x4000;
  const std::string index = fmt::format("[{}]", queue);
  set(gpu, "kernel_queue.base" + index, on(gpu, base));
  set(gpu, "kernel_queue.entries" + index, entries);
  const std::uint64_t number = get(gpu, "kernel_queue.completed" + index);
  const std::uint64_t entry = base + number % entries * T3_KERNEL_PACKET_ENTRY_BYTES;
  put(gpu, on(gpu, entry), one_in(2) ? gemm_packet(gpu, entry) : any_packet(gpu, entry));
  set(gpu, "kernel_queue.doorbell" + index, nearly(number + 1));
}

/// Queue pair 0 with the next GPU's, whose regions begin both with key 1.
void Moves::connect(std::uint64_t gpu) {
  const std::uint64_t peer = (gpu + 1) % processors_.size();
  for (const std::uint64_t end : {gpu, peer}) {
    set(end, "nic.state[0]", 0);
    set(end, "nic.region_base", nearly(on(end, sent)));
    set(end, "nic.region_bytes", nearly(0x100000));
    set(end, "nic.region_access", nearly(31));
    if (get(end, "nic.regions") < 8) set(end, "nic.command", 1);
    set(end, "nic.completion_entries[0]", entries);
    set(end, "nic.completion_base[0]", nearly(on(end, completions)));
    set(end, "nic.send_base[0]", nearly(on(end, send_ring)));
    set(end, "nic.doorbell_record[0]", nearly(on(end, record)));
    set(end, "nic.send_entries[0]", entries);
    set(end, "nic.peer[0]", nearly((end == gpu ? peer : gpu) << 16));
    for (std::uint64_t state = 1; state <= 3; ++state) set(end, "nic.state[0]", state);
  }
}

void Moves::post(std::uint64_t gpu) {
  constexpr std::uint8_t opcodes[] = {8, 8, 8, 9, 16, 18, 48};
  const std::uint64_t posted = get(gpu, "nic.posted[0]"), peer = (gpu + 1) % processors_.size();
  t3_nic_work_entry entry{};
  entry.opcode = static_cast<std::uint8_t>(nearly(opcodes[below(std::size(opcodes))]));
  entry.flags = static_cast<std::uint8_t>(nearly(T3_NIC_WORK_ENTRY_FLAGS_SIGNALED));
  entry.index = static_cast<std::uint16_t>(nearly(posted));
  entry.segments = static_cast<std::uint8_t>(nearly(1));
  entry.remote_address = nearly(on(peer, sent + (below(1024) << 5)));
  entry.remote_key = static_cast<std::uint32_t>(nearly(get(peer, "nic.key")));
  const t3_nic_segment segment{nearly(on(gpu, sent)), static_cast<std::uint32_t>(nearly(get(gpu, "nic.key"))),
                               static_cast<std::uint32_t>(nearly(below(64) << below(10)))};
  std::vector<unsigned char> bytes(64);
  t3_nic_work_entry_to(&entry, bytes.data());
  t3_nic_segment_to(&segment, &bytes[T3_NIC_WORK_ENTRY_BYTES]);
  put(gpu, on(gpu, send_ring + posted % entries * 64), bytes);
  std::vector<unsigned char> count(4);
  t3_put_number(count.data(), 4, posted + 1);
  put(gpu, on(gpu, record), count);
  set(gpu, "nic.consumed[0]", get(gpu, "nic.produced[0]"));
  set(gpu, "nic.doorbell[0]", nearly(posted + 1));
}

}  // namespace t3vp
