#include "firmware/mock_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "t3/registers/cache.h"
#include "t3/registers/dma.h"
#include "t3/registers/error_log.h"
#include "t3/registers/interrupt_controller.h"
#include "t3/registers/kernel_queue.h"
#include "t3/registers/memory_controller.h"
#include "t3/registers/near_memory.h"
#include "t3/registers/output_map.h"
#include "t3/registers/signals.h"
#include "t3/registers/system.h"
#include "t3/registers/tracker.h"

namespace t3vp {
namespace {

MockGpu& mock(void* platform) { return *static_cast<MockGpu*>(platform); }

const char* operation_name(std::uint64_t operation) {
  constexpr const char* names[] = {"none", "store", "update", "notify"};
  return names[operation];
}

std::string kernel_line(const QueuedKernel& packet) {
  const auto is = [&](const char* name) { return packet.kernel == t3_kernel_handle(name); };
  const auto batch = [](std::uint16_t batches) { return batches > 1 ? fmt::format(" batch of {}", batches) : ""; };
  if (is("gemm")) {
    const t3_gemm_arguments a = packet.gemm();
    return fmt::format("kernel gemm from {} of {}{}{}{}{}", a.first_workgroup, packet.workgroups, batch(a.batches),
                       a.update != 0 ? " update" : "", a.uncached != 0 ? " uncached" : "",
                       a.chunks > 1 ? fmt::format(" chunks {}", a.chunks) : "");
  }
  if (is("rows")) return fmt::format("kernel rows {} {}x{}", packet.rows().operation, packet.rows().m, packet.rows().n);
  if (is("attention")) {
    const t3_attention_arguments a = packet.attention();
    return fmt::format("kernel attention {} {}x{}{}", a.pass, a.m, a.n, batch(a.batches));
  }
  if (is("ring-all-gather"))
    return fmt::format("kernel ring-all-gather{}", packet.all_gather().uncached != 0 ? " uncached" : "");
  if (!is("ring-reduce-scatter")) return "kernel none";
  const t3_ring_reduce_scatter_arguments a = packet.reduce_scatter();
  return fmt::format("kernel ring-reduce-scatter{}{}", a.uncached != 0 ? " uncached" : "",
                     a.near_memory != 0 ? " near memory" : "");
}

/// Returns the offset of the queue's element in an array of registers.
std::uint32_t of_queue(std::uint32_t offset, std::uint32_t queue) {
  return offset + queue * T3_KERNEL_QUEUE_BASE_STRIDE;
}

}  // namespace

MockGpu::MockGpu(std::uint32_t gpu, std::uint32_t gpus, std::uint64_t memory_bytes) : gpu_(gpu) {
  reg(T3_BLOCK_SYSTEM, T3_SYSTEM_IDENTITY_OFFSET) = 0x54335650;
  reg(T3_BLOCK_SYSTEM, T3_SYSTEM_GPU_OFFSET) = gpu;
  reg(T3_BLOCK_SYSTEM, T3_SYSTEM_GPUS_OFFSET) = gpus;
  reg(T3_BLOCK_SYSTEM, T3_SYSTEM_MEMORY_BYTES_OFFSET) = memory_bytes;
  reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_COMPUTE_UNITS_OFFSET) = 80;

  hal_.platform = this;
  hal_.gpu = gpu;
  hal_.read32 = [](void* p, uint64_t address, uint32_t* value) {
    uint64_t wide = 0;
    const t3_status status = mock(p).read(address, wide);
    *value = static_cast<uint32_t>(wide);
    return status;
  };
  hal_.read64 = [](void* p, uint64_t address, uint64_t* value) { return mock(p).read(address, *value); };
  hal_.write32 = [](void* p, uint64_t address, uint32_t value) { return mock(p).write(address, value); };
  hal_.write64 = [](void* p, uint64_t address, uint64_t value) { return mock(p).write(address, value); };
  hal_.read_memory = [](void* p, uint64_t address, void* data, uint64_t bytes) {
    const auto& memory = mock(p).memory_;
    for (uint64_t i = 0; i < bytes; ++i)
      if (const auto byte = memory.find(address + i); byte != memory.end())
        static_cast<unsigned char*>(data)[i] = byte->second;
    return T3_OK;
  };
  hal_.write_memory = [](void* p, uint64_t address, const void* data, uint64_t bytes) {
    mock(p).unlocked_accesses_ += mock(p).locks_ == 0 ? 1u : 0u;
    mock(p).order_.emplace_back("memory");
    for (uint64_t i = 0; i < bytes; ++i) mock(p).posted_[address + i] = static_cast<const unsigned char*>(data)[i];
    return T3_OK;
  };
  hal_.order_writes = [](void* p) {
    mock(p).order_.emplace_back("order");
    for (const auto& [address, byte] : mock(p).posted_) mock(p).memory_[address] = byte;
    mock(p).posted_.clear();
  };
  hal_.take_interrupts = [](void* p, void (*entry)(void*), void* argument) {
    mock(p).entry_ = entry;
    mock(p).entry_argument_ = argument;
  };
  hal_.lock = [](void* p) { ++mock(p).locks_; };
  hal_.unlock = [](void* p) { mock(p).unlock(); };
  hal_.time_ns = [](void* p) { return mock(p).time_ns_; };
  hal_.wait_for_interrupt = [](void* p, uint64_t deadline, const char*) { return mock(p).wait(deadline); };
  hal_.wait_ns = [](void* p, uint64_t ns) { mock(p).time_ns_ += ns; };
  hal_.exchange = [](void* p, const char* name, const void* mine, uint64_t bytes, void* all, uint64_t) {
    return mock(p).exchange(name, mine, bytes, all);
  };
  hal_.mark = [](void* p, const char* phase, bool begin) {
    mock(p).note(fmt::format("{} {}", begin ? "begin" : "end", phase));
  };
  hal_.publish = [](void* p, const t3_buffer* buffer) {
    mock(p).buffers_.push_back(*buffer);
    mock(p).note(fmt::format("publish {}", buffer->name));
  };
  hal_.has_argument = [](void*, const char*) { return false; };
  hal_.argument_u64 = [](void*, const char*, uint64_t*) { return T3_INVALID_ARGUMENT; };
  hal_.argument_double = [](void*, const char*, double*) { return T3_INVALID_ARGUMENT; };
  hal_.argument_bool = [](void*, const char*, bool*) { return T3_INVALID_ARGUMENT; };
  hal_.argument_text = [](void*, const char*, const char**) { return T3_INVALID_ARGUMENT; };
  hal_.log = [](void*, const char*) {};
  hal_.error = [](void* p, t3_status code, const char* text) {
    mock(p).reported_.push_back(code == T3_OK ? "ok" : fmt::format("{}: {}", t3_status_text(code), text));
  };
}

std::vector<std::string> MockGpu::take_journal() {
  std::vector<std::string> journal;
  journal.swap(journal_);
  return journal;
}

void MockGpu::refuse_next(t3_block block, std::vector<t3_status> codes) {
  refusals_[block].assign(codes.begin(), codes.end());
}

t3_status MockGpu::read(std::uint64_t address, std::uint64_t& value) {
  unlocked_accesses_ += locks_ == 0 ? 1u : 0u;
  if (unplugged_ != T3_BLOCK_COUNT && address / T3_BLOCK_BYTES == t3_block_base(gpu_, unplugged_) / T3_BLOCK_BYTES)
    return T3_BAD_ADDRESS;
  reg(T3_BLOCK_CACHE, T3_CACHE_STATUS_OFFSET) = flushing_ ? T3_CACHE_STATUS_BUSY_MASK : 0;
  show_error();
  reg(T3_BLOCK_INTERRUPT_CONTROLLER, T3_INTERRUPT_CONTROLLER_PENDING_OFFSET) = lines();
  value = registers_[address];
  if (address == finish_after_) {
    finish_after_ = 0;
    finish_work();
  }
  return T3_OK;
}

t3_status MockGpu::write(std::uint64_t address, std::uint64_t value) {
  const auto block = static_cast<t3_block>((address & T3_LOCAL_MASK) % T3_REGISTERS_BASE / T3_BLOCK_BYTES);
  const auto offset = static_cast<std::uint32_t>(address % T3_BLOCK_BYTES);
  unlocked_accesses_ += locks_ == 0 ? 1u : 0u;
  if (block == unplugged_) return T3_BAD_ADDRESS;
  if (t3_gpu_of(address) != gpu_) {
    note(fmt::format("signal gpu {}", t3_gpu_of(address)));
    order_.emplace_back("signal");
    const bool is_barrier = block == T3_BLOCK_SIGNALS && offset == T3_SIGNALS_ADD_OFFSET && value == 1;
    return is_barrier ? T3_OK : T3_BAD_ADDRESS;
  }
  const bool clears = (block == T3_BLOCK_DMA && offset == T3_DMA_INTERRUPT_OFFSET) ||
                      (block == T3_BLOCK_KERNEL_QUEUE &&
                       offset % T3_KERNEL_QUEUE_INTERRUPT_STRIDE == T3_KERNEL_QUEUE_INTERRUPT_OFFSET &&
                       offset < T3_KERNEL_QUEUE_COMPLETION_OFFSET) ||
                      (block == T3_BLOCK_SIGNALS && offset == T3_SIGNALS_INTERRUPT_OFFSET) ||
                      (block == T3_BLOCK_TRACKER && offset == T3_TRACKER_INTERRUPT_OFFSET) ||
                      (block == T3_BLOCK_CACHE && offset == T3_CACHE_INTERRUPT_OFFSET);
  if (clears) {
    clear_interrupt(block, offset, value);
    return T3_OK;
  }
  registers_[address] = value;
  command(block, offset, value);
  return T3_OK;
}

void MockGpu::command(t3_block block, std::uint32_t offset, std::uint64_t value) {
  if (block == T3_BLOCK_OUTPUT_MAP && offset == T3_OUTPUT_MAP_COMMAND_OFFSET) output_map_command(value);
  if (block == T3_BLOCK_TRACKER && offset == T3_TRACKER_COMMAND_OFFSET) tracker_command(value);
  if (block == T3_BLOCK_DMA && offset == T3_DMA_COMMAND_OFFSET) dma_command(value);
  if (block == T3_BLOCK_KERNEL_QUEUE)
    for (std::uint32_t queue = 0; queue < T3_QUEUES; ++queue)
      if (offset == of_queue(T3_KERNEL_QUEUE_DOORBELL_OFFSET, queue)) doorbell(queue, value);
  if (block == T3_BLOCK_ERROR_LOG && offset == T3_ERROR_LOG_POP_OFFSET) pop_error();
  if (block == T3_BLOCK_CACHE && offset == T3_CACHE_COMMAND_OFFSET) {
    note("flush");
    flushing_ = true;
  }
  if (block == T3_BLOCK_NEAR_MEMORY && offset == T3_NEAR_MEMORY_COMMAND_OFFSET) {
    const bool arms = value == T3_NEAR_MEMORY_COMMAND_ACTION_ARM;
    note(arms ? fmt::format("arm {} bytes", reg(T3_BLOCK_NEAR_MEMORY, T3_NEAR_MEMORY_VALID_BYTES_OFFSET)) : "disarm");
    answer(T3_BLOCK_NEAR_MEMORY, T3_NEAR_MEMORY_STATUS_OFFSET);
  }
  if (block == T3_BLOCK_MEMORY_CONTROLLER && offset == T3_MEMORY_CONTROLLER_ARBITRATION_OFFSET)
    note(fmt::format("arbitration {} limit {}", value & 0xFF, value >> 8));
}

std::string MockGpu::chunk(t3_block block) {
  return fmt::format("{}+{}", reg(block, T3_TRACKER_FIRST_WORKGROUP_OFFSET), reg(block, T3_TRACKER_WORKGROUPS_OFFSET));
}

std::string MockGpu::destination(t3_block block, std::uint32_t offset) {
  const std::uint64_t address = reg(block, offset);
  const std::uint64_t out = reg(block, 0);
  const bool is_same_place = (address & T3_LOCAL_MASK) == (out & T3_LOCAL_MASK);
  return fmt::format("gpu {}{}", t3_gpu_of(address), is_same_place ? "" : " elsewhere");
}

void MockGpu::answer(t3_block block, std::uint32_t status_offset) {
  std::deque<t3_status>& codes = refusals_[block];
  reg(block, status_offset) = codes.empty() ? T3_OK : codes.front();
  if (codes.empty()) return;
  note(fmt::format("  refused: {}", t3_status_text(codes.front())));
  codes.pop_front();
}

void MockGpu::output_map_command(std::uint64_t value) {
  if (value == T3_OUTPUT_MAP_COMMAND_ACTION_ADD)
    note(fmt::format(
        "map {} {} {}", chunk(T3_BLOCK_OUTPUT_MAP),
        operation_name((reg(T3_BLOCK_OUTPUT_MAP, T3_OUTPUT_MAP_OPERATION_OFFSET) & T3_OUTPUT_MAP_OPERATION_KIND_MASK) >>
                       T3_OUTPUT_MAP_OPERATION_KIND_SHIFT),
        destination(T3_BLOCK_OUTPUT_MAP, T3_OUTPUT_MAP_PEER_BASE_OFFSET)));
  else
    note("unmap");
  answer(T3_BLOCK_OUTPUT_MAP, T3_OUTPUT_MAP_STATUS_OFFSET);
}

void MockGpu::tracker_command(std::uint64_t value) {
  std::uint64_t& chunks = reg(T3_BLOCK_TRACKER, T3_TRACKER_CHUNKS_OFFSET);
  const bool adds = (value & T3_TRACKER_COMMAND_ACTION_MASK) == T3_TRACKER_COMMAND_ACTION_ADD;
  const bool refused = !refusals_[T3_BLOCK_TRACKER].empty();
  if (adds)
    note(
        fmt::format("track {} x{} {}", chunk(T3_BLOCK_TRACKER), reg(T3_BLOCK_TRACKER, T3_TRACKER_UPDATES_OFFSET),
                    operation_name((value & T3_TRACKER_COMMAND_OPERATION_MASK) >> T3_TRACKER_COMMAND_OPERATION_SHIFT)));
  else
    note("untrack");
  chunks = !adds ? 0 : chunks + (refused ? 0 : 1);
  if (!adds) reg(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET) = sends_after_removal_ ? T3_DMA_STATUS_BUSY_MASK : 0;
  answer(T3_BLOCK_TRACKER, T3_TRACKER_STATUS_OFFSET);
}

void MockGpu::dma_command(std::uint64_t value) {
  const std::uint64_t action = value & T3_DMA_COMMAND_ACTION_MASK;
  const std::uint64_t operation = (value & T3_DMA_COMMAND_OPERATION_MASK) >> T3_DMA_COMMAND_OPERATION_SHIFT;
  const bool refused = !refusals_[T3_BLOCK_DMA].empty();
  std::uint64_t& pending = reg(T3_BLOCK_DMA, T3_DMA_PENDING_OFFSET);
  if (action == T3_DMA_COMMAND_ACTION_FILL) {
    note(fmt::format("fill {} bytes", reg(T3_BLOCK_DMA, T3_DMA_FILL_BYTES_OFFSET)));
    filling_ = !refused;
  } else if (action == T3_DMA_COMMAND_ACTION_ADD) {
    const std::uint64_t way = reg(T3_BLOCK_DMA, T3_DMA_WAY_OFFSET);
    note(fmt::format(
        "dma {} {}{}{}", chunk(T3_BLOCK_DMA), operation_name(operation),
        operation == T3_NOTIFY ? "" : " " + destination(T3_BLOCK_DMA, T3_DMA_DESTINATION_BASE_OFFSET),
        (way & T3_DMA_WAY_KIND_MASK) == 0 ? "" : fmt::format(" by queue {}", way >> T3_DMA_WAY_QUEUE_SHIFT)));
    pending += refused ? 0 : 1;
  } else if (action == T3_DMA_COMMAND_ACTION_ADD_DESTINATION) {
    note(fmt::format("dma {} also {}", chunk(T3_BLOCK_DMA), destination(T3_BLOCK_DMA, T3_DMA_DESTINATION_BASE_OFFSET)));
  } else {
    note("dma remove");
    pending = 0;
  }
  answer(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET);
  if (filling_) reg(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET) |= T3_DMA_STATUS_BUSY_MASK;
}

void MockGpu::doorbell(std::uint32_t queue, std::uint64_t count) {
  order_.emplace_back("doorbell");
  rung_[queue] = count;
  const std::uint64_t ring = reg(T3_BLOCK_KERNEL_QUEUE, of_queue(T3_KERNEL_QUEUE_BASE_OFFSET, queue));
  const std::uint64_t entries = reg(T3_BLOCK_KERNEL_QUEUE, of_queue(T3_KERNEL_QUEUE_ENTRIES_OFFSET, queue));
  const auto read = [this](std::uint64_t address, std::uint32_t size) {
    std::vector<unsigned char> bytes(size);
    for (std::uint32_t i = 0; i < size; ++i) bytes[i] = memory_.at(address + i);
    return bytes;
  };
  const std::uint64_t entry = ring + (count - 1) % entries * T3_KERNEL_PACKET_ENTRY_BYTES;
  QueuedKernel packet{t3_kernel_packet_from(read(entry, T3_KERNEL_PACKET_BYTES).data()), {}, queue};
  packet.bytes = read(packet.arguments, packet.argument_bytes);
  packets_.push_back(packet);
  note(kernel_line(packet));
}

void MockGpu::clear_interrupt(t3_block block, std::uint32_t offset, std::uint64_t bits) { reg(block, offset) &= ~bits; }

void MockGpu::show_error() {
  const t3_error oldest = errors_.empty() ? t3_error{T3_OK, T3_BLOCK_SYSTEM, 0, 0} : errors_.front();
  reg(T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_COUNT_OFFSET) = errors_.size();
  reg(T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_CODE_OFFSET) = oldest.code;
  reg(T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_BLOCK_OFFSET) = oldest.block;
  reg(T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_ADDRESS_OFFSET) = oldest.address;
  reg(T3_BLOCK_ERROR_LOG, T3_ERROR_LOG_TIME_NS_OFFSET) = oldest.time_ns;
}

void MockGpu::pop_error() {
  if (!errors_.empty()) errors_.pop_front();
}

std::uint64_t MockGpu::lines() const {
  const auto value = [this](t3_block block, std::uint32_t offset) {
    const auto found = registers_.find(t3_block_base(gpu_, block) + offset);
    return found == registers_.end() ? 0 : found->second;
  };
  const std::uint64_t dma = value(T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET);
  bool kernels = false;
  for (std::uint32_t queue = 0; queue < T3_QUEUES; ++queue)
    kernels = kernels || value(T3_BLOCK_KERNEL_QUEUE, of_queue(T3_KERNEL_QUEUE_INTERRUPT_OFFSET, queue)) != 0;
  return (kernels ? 1u : 0u) | ((dma & ~std::uint64_t{T3_DMA_INTERRUPT_ERROR_MASK}) != 0 ? 2u : 0u) |
         (value(T3_BLOCK_SIGNALS, T3_SIGNALS_INTERRUPT_OFFSET) != 0 ? 4u : 0u) | (errors_.empty() ? 0u : 8u) |
         (value(T3_BLOCK_TRACKER, T3_TRACKER_INTERRUPT_OFFSET) != 0 ? 16u : 0u) |
         ((dma & T3_DMA_INTERRUPT_ERROR_MASK) != 0 ? 32u : 0u) |
         (value(T3_BLOCK_CACHE, T3_CACHE_INTERRUPT_OFFSET) != 0 ? 64u : 0u);
}

bool MockGpu::raised() const {
  const auto enable =
      registers_.find(t3_block_base(gpu_, T3_BLOCK_INTERRUPT_CONTROLLER) + T3_INTERRUPT_CONTROLLER_ENABLE_OFFSET);
  return enable != registers_.end() && (lines() & enable->second) != 0;
}

void MockGpu::unlock() {
  if (locks_ == 0) throw std::logic_error("interrupts are allowed more often than they were held off");
  for (--locks_; locks_ == 0 && entry_ != nullptr && raised(); --locks_) {
    ++locks_;
    entry_(entry_argument_);
  }
}

void MockGpu::finish_kernels(std::uint32_t queue) {
  constexpr std::uint32_t kept = T3_KERNEL_QUEUE_COMPLETION_COUNT / T3_QUEUES;
  std::uint64_t& completed = reg(T3_BLOCK_KERNEL_QUEUE, of_queue(T3_KERNEL_QUEUE_COMPLETED_OFFSET, queue));
  std::uint64_t& queue_status = reg(T3_BLOCK_KERNEL_QUEUE, of_queue(T3_KERNEL_QUEUE_STATUS_OFFSET, queue));
  std::uint64_t& queue_interrupt = reg(T3_BLOCK_KERNEL_QUEUE, of_queue(T3_KERNEL_QUEUE_INTERRUPT_OFFSET, queue));
  while (completed < rung_[queue]) {
    ++completed;
    const t3_status code = std::exchange(failed_kernel_, T3_OK);
    queue_interrupt |= T3_KERNEL_QUEUE_INTERRUPT_COMPLETE_MASK;
    const auto index = static_cast<std::uint32_t>(kept * queue + completed % kept);
    reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_COMPLETION_OFFSET + index * T3_KERNEL_QUEUE_COMPLETION_STRIDE) =
        static_cast<std::uint32_t>(completed << T3_KERNEL_QUEUE_COMPLETION_PACKET_SHIFT) |
        static_cast<std::uint32_t>(code);
    std::uint64_t& refused =
        reg(T3_BLOCK_KERNEL_QUEUE, T3_KERNEL_QUEUE_REFUSED_OFFSET + index / 32 * T3_KERNEL_QUEUE_REFUSED_STRIDE);
    const std::uint64_t bit = std::uint64_t{1} << index % 32;
    refused = code != T3_OK && refuses_ ? refused | bit : refused & ~bit;
    if (code == T3_OK || (queue_interrupt & T3_KERNEL_QUEUE_INTERRUPT_ERROR_MASK) != 0) continue;
    queue_interrupt |= T3_KERNEL_QUEUE_INTERRUPT_ERROR_MASK;
    queue_status = static_cast<std::uint64_t>(code) << T3_KERNEL_QUEUE_STATUS_ERROR_SHIFT;
  }
}

/// Everything that was ordered gets done, and the next GPU of the ring comes one round further in its barrier.
void MockGpu::finish_work() {
  for (std::uint32_t queue = 0; queue < T3_QUEUES; ++queue)
    if (!held_queues_[queue]) finish_kernels(queue);
  std::uint64_t& dma_interrupt = reg(T3_BLOCK_DMA, T3_DMA_INTERRUPT_OFFSET);
  std::uint64_t& pending = reg(T3_BLOCK_DMA, T3_DMA_PENDING_OFFSET);
  if (pending != 0) dma_interrupt |= T3_DMA_INTERRUPT_COMPLETE_MASK;
  pending = 0;
  if (filling_) {
    dma_interrupt |= T3_DMA_INTERRUPT_FILLED_MASK;
    reg(T3_BLOCK_DMA, T3_DMA_STATUS_OFFSET) = std::exchange(failed_fill_, T3_OK);
  }
  filling_ = false;
  if (std::exchange(flushing_, false))
    reg(T3_BLOCK_CACHE, T3_CACHE_INTERRUPT_OFFSET) |= T3_CACHE_INTERRUPT_FLUSHED_MASK;
  ++reg(T3_BLOCK_SIGNALS, T3_SIGNALS_VALUE_OFFSET);
  reg(T3_BLOCK_SIGNALS, T3_SIGNALS_INTERRUPT_OFFSET) |= T3_SIGNALS_INTERRUPT_CHANGED_MASK;
}

t3_status MockGpu::exchange(const char* name, const void* mine, std::uint64_t bytes, void* all) {
  if (hangs_) return T3_STUCK;
  note(std::string("exchange ") + name);
  const auto said = brought_.find(name);
  for (std::uint64_t gpu = 0; gpu < registers_[t3_block_base(gpu_, T3_BLOCK_SYSTEM) + T3_SYSTEM_GPUS_OFFSET]; ++gpu)
    std::memcpy(static_cast<unsigned char*>(all) + gpu * bytes,
                said == brought_.end() || gpu == gpu_ ? mine : said->second.data() + gpu * bytes, bytes);
  return T3_OK;
}

t3_status MockGpu::wait(std::uint64_t deadline_ns) {
  constexpr unsigned far_too_many = 10'000;  // a driver that is woken all the time for nothing fails its test
  if (hangs_ && !raised()) {
    if (deadline_ns == T3_FOREVER) return T3_STUCK;
    time_ns_ = std::max(time_ns_, deadline_ns);
    return T3_TIMEOUT;
  }
  if (!raised()) finish_work();
  if (hangs_) ++time_ns_;
  return raised() && ++waits_ < far_too_many ? T3_OK : T3_STUCK;
}

}  // namespace t3vp
