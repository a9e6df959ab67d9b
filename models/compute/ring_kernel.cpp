#include "compute/ring_kernel.h"

#include <algorithm>
#include <cstring>

#include "protocol/address_map.h"
#include "registers/signals.h"

namespace t3vp {
namespace {

std::uint64_t token_of(std::uint32_t flight, std::uint64_t answer) { return std::uint64_t{flight} << 8 | answer; }

}  // namespace

RingKernel::RingKernel(KernelHost& host, const KernelPacket& packet)
    : host_(host), packet_(packet), grid_{packet.m,
                                          packet.n,
                                          packet.tile_rows,
                                          packet.tile_columns,
                                          1,
                                          packet.ldo,
                                          static_cast<ElementType>(packet.element)} {
  const ComputeParameters& parameters = host.parameters();
  for (std::uint32_t c = 0; c < packet.gpus; ++c) {
    const std::uint32_t begin = grid_.chunk_begin(c, packet.gpus);
    chunks_.emplace_back(grid_, begin, grid_.chunk_begin(c + 1, packet.gpus) - begin, parameters.ring_block_bytes);
  }
  workgroups_.resize(std::size_t{parameters.compute_units} * parameters.ring_workgroups_per_cu);
  for (Workgroup& workgroup : workgroups_) workgroup.flights.resize(parameters.ring_blocks_in_flight);
  // A chunk goes to the GPU before this one in the ring.
  sent_ = std::make_shared<RingSignal>(
      agreement((packet.gpu + packet.gpus - 1) % packet.gpus, packet.peer_out, packet.peer_staging));
  expected_ = std::make_shared<RingSignal>(agreement(packet.gpu, packet.out, packet.staging));
}

std::uint32_t RingKernel::chunk_of(std::uint32_t step) const {
  return (packet_.gpu + step + (reduces() ? 1 : 0)) % packet_.gpus;
}

TrafficClass RingKernel::traffic(Operation operation) const {
  if (operation == Operation::load) return reduces() ? TrafficClass::rs_read : TrafficClass::ag_read;
  return reduces() ? TrafficClass::rs_write : TrafficClass::ag_write;
}

void RingKernel::start(Slot slot, std::uint32_t index) {
  Workgroup& workgroup = workgroups_[slot];
  workgroup.index = index;
  workgroup.step = 0;
  workgroup.begin = now();
  begin_step(slot);
}

void RingKernel::begin_step(Slot slot) {
  if (workgroups_[slot].step == 0)
    begin_share(slot);
  else
    wait_for_sender(slot);
}

void RingKernel::begin_share(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const bool nothing_to_do = last(workgroup.step) && !staged();
  const std::uint64_t blocks = nothing_to_do ? 0 : chunks_[chunk_of(workgroup.step)].count();
  workgroup.next = blocks * workgroup.index / packet_.workgroups;
  workgroup.end = blocks * (workgroup.index + 1) / packet_.workgroups;
  advance(slot);
}

void RingKernel::advance(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const ChunkBlocks& chunk = chunks_[chunk_of(workgroup.step)];
  for (std::uint32_t i = 0; i < workgroup.flights.size() && workgroup.next < workgroup.end; ++i) {
    Flight& flight = workgroup.flights[i];
    if (flight.busy) continue;
    flight.busy = true;
    ++workgroup.in_flight;
    flight.block = chunk.block(workgroup.next++);
    flight.sum.clear();
    flight.loads = 1;
    const bool adds = staged() && workgroup.step != 0;
    if (adds) {
      flight.loads = 2;
      load(slot, i, packet_.staging, Answer::received);
    }
    load(slot, i, packet_.out, Answer::local);
  }
  if (workgroup.in_flight == 0) end_step(slot);
}

void RingKernel::load(Slot slot, std::uint32_t flight, std::uint64_t base, Answer answer) {
  const Block& block = workgroups_[slot].flights[flight].block;
  Transaction& transaction = host_.pool().make(Operation::load, base + block.offset, block.shape);
  DataExtension& extension = transaction.extension();
  extension.traffic = traffic(Operation::load);
  extension.cached = (packet_.flags & KernelPacket::uncached) == 0;
  extension.token = token_of(flight, static_cast<std::uint64_t>(answer));
  if (host_.functional()) transaction.attach_buffer();
  host_.issue(slot, transaction);
}

void RingKernel::answered(Slot slot, Transaction& transaction) {
  const std::uint64_t token = transaction.extension().token;
  const auto flight = static_cast<std::uint32_t>(token >> 8);
  Workgroup& workgroup = workgroups_[slot];
  switch (static_cast<Answer>(token & 0xFF)) {
    case Answer::local:
    case Answer::received:
      return loaded(slot, flight, transaction);
    case Answer::stored:
      workgroup.flights[flight].busy = false;
      --workgroup.in_flight;
      return advance(slot);
    case Answer::signalled:
      ++workgroup.step;
      return begin_step(slot);
    case Answer::waited:
      return begin_share(slot);
  }
}

void RingKernel::loaded(Slot slot, std::uint32_t index, Transaction& transaction) {
  Flight& flight = workgroups_[slot].flights[index];
  if (const unsigned char* data = transaction.get_data_ptr()) {
    const std::size_t bytes = transaction.get_data_length();
    if (flight.sum.empty())
      flight.sum.assign(data, data + bytes);
    else
      host_.add(grid_.element, flight.sum, transaction);
  }
  if (--flight.loads != 0) return;
  const ComputeParameters& p = host_.parameters();
  const bool added = staged() && workgroups_[slot].step != 0;
  const double elements = static_cast<double>(flight.block.shape.bytes()) / bytes_of(grid_.element);
  if (added)
    host_.schedule(host_.occupy(slot, cycle_time(elements / p.vector_elements_per_cycle, p.clock_GHz)), slot, index);
  else
    store(slot, index);
}

void RingKernel::elapsed(Slot slot, std::uint32_t flight) { store(slot, flight); }

void RingKernel::store(Slot slot, std::uint32_t index) {
  Workgroup& workgroup = workgroups_[slot];
  Flight& flight = workgroup.flights[index];
  const bool in_place = last(workgroup.step);
  const std::uint64_t base = in_place ? packet_.out : staged() ? packet_.peer_staging : packet_.peer_out;
  const bool update = reduces() && !staged();
  Transaction& transaction =
      host_.pool().make(update ? Operation::update : Operation::store, base + flight.block.offset, flight.block.shape);
  DataExtension& extension = transaction.extension();
  extension.traffic = traffic(Operation::store);
  extension.element = grid_.element;
  extension.cached = (packet_.flags & KernelPacket::uncached) == 0;
  extension.producer = {flight.block.wg_id, no_wavefront, host_.gpu()};
  if (!in_place) extension.ring = sent_;
  extension.token = token_of(index, static_cast<std::uint64_t>(Answer::stored));
  if (host_.functional()) {
    transaction.attach_buffer();
    std::memcpy(transaction.get_data_ptr(), flight.sum.data(), flight.sum.size());
  }
  host_.issue(slot, transaction);
}

void RingKernel::end_step(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  if (!last(workgroup.step)) return signal_receiver(slot);
  Trace::Track track = 0;
  if (Trace* trace = host_.trace(slot, track))
    trace->span(track, reduces() ? "reduce-scatter" : "all-gather", workgroup.begin, now());
  host_.finished(slot);
}

std::uint64_t RingKernel::signal_address(std::uint64_t gpu, std::uint64_t register_offset,
                                         std::uint32_t workgroup) const {
  return address_map::on_gpu(gpu, address_map::block_base(address_map::Block::signals)) + register_offset +
         std::uint64_t{8} * (packet_.signal_base + workgroup);
}

/// What a chunk's sender and its receiver, at this position, must agree on; `out` and `staging` are the receiver's.
RingSignal RingKernel::agreement(std::uint32_t receiver, std::uint64_t out, std::uint64_t staging) const {
  RingSignal signal;
  signal.sender = host_.gpu();
  signal.properties = {!reduces() ? RingSignal::all_gather
                       : staged() ? RingSignal::reduce_scatter
                                  : RingSignal::near_memory_reduce_scatter,
                       packet_.m,
                       packet_.n,
                       packet_.ldo,
                       packet_.tile_rows,
                       packet_.tile_columns,
                       packet_.element,
                       packet_.gpus,
                       packet_.workgroups,
                       receiver,
                       address_map::local_of(out),
                       staged() ? address_map::local_of(staging) : 0,
                       packet_.signal_epoch};
  return signal;
}

/// The signal takes the same way as the data before it and cannot overtake it. A kernel that has failed goes on, for
/// its neighbours wait for it, and says so.
void RingKernel::signal_receiver(Slot slot) {
  const std::uint64_t peer = address_map::gpu_of(packet_.peer_out);
  const auto signal = std::make_shared<RingSignal>(*sent_);
  signal->failure = static_cast<std::uint32_t>(host_.failure());
  Transaction& transaction = host_.pool().make(
      Operation::store, signal_address(peer, registers::Signals::add_offset, workgroups_[slot].index), {1, 8, 0});
  transaction.extension().cached = false;
  transaction.extension().token = token_of(0, static_cast<std::uint64_t>(Answer::signalled));
  transaction.extension().ring = signal;
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 1;
  host_.issue(slot, transaction);
}

void RingKernel::wait_for_sender(Slot slot) {
  const Workgroup& workgroup = workgroups_[slot];
  Transaction& transaction = host_.pool().make(
      Operation::wait, signal_address(host_.gpu(), registers::Signals::value_offset, workgroup.index), {1, 8, 0});
  transaction.extension().threshold = packet_.signal_epoch + workgroup.step;
  transaction.extension().ring = expected_;
  transaction.extension().token = token_of(0, static_cast<std::uint64_t>(Answer::waited));
  host_.issue(slot, transaction);
}

}  // namespace t3vp
