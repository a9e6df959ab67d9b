// A GPU as the driver sees it through the HAL: registers that store, blocks that finish their work as soon as somebody
// waits for it, and a journal of everything that the driver has ordered. Memory writes stay in the processor until they
// are ordered, and interrupts are taken when the driver allows them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "t3/arguments/attention.h"
#include "t3/arguments/gemm.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/arguments/ring_reduce_scatter.h"
#include "t3/arguments/rows.h"
#include "t3/kernel_handle.h"
#include "t3/kernel_packet.h"
#include "t3/programs.h"
#include "t3/t3.h"
#include "t3_hal.h"

namespace t3vp {

/// A packet, the bytes of its arguments and the queue that it came in.
struct QueuedKernel : t3_kernel_packet {
  std::vector<unsigned char> bytes;
  std::uint32_t queue = 0;

  t3_gemm_arguments gemm() const { return t3_gemm_arguments_from(bytes.data()); }
  t3_rows_arguments rows() const { return t3_rows_arguments_from(bytes.data()); }
  t3_attention_arguments attention() const { return t3_attention_arguments_from(bytes.data()); }
  t3_ring_reduce_scatter_arguments reduce_scatter() const {
    return t3_ring_reduce_scatter_arguments_from(bytes.data());
  }
  t3_ring_all_gather_arguments all_gather() const { return t3_ring_all_gather_arguments_from(bytes.data()); }
};

class MockGpu {
 public:
  MockGpu(std::uint32_t gpu, std::uint32_t gpus, std::uint64_t memory_bytes = 1u << 30);
  MockGpu(const MockGpu&) = delete;
  MockGpu& operator=(const MockGpu&) = delete;

  const t3_hal* hal() const { return &hal_; }

  /// One line per order, such as "track 2+3 x2 update" or "signal gpu 1".
  const std::vector<std::string>& journal() const { return journal_; }
  std::vector<std::string> take_journal();
  /// What order matters between: "memory" written, "order", "doorbell" and "signal" to another GPU.
  std::vector<std::string> take_order() { return std::exchange(order_, {}); }
  const std::vector<QueuedKernel>& packets() const { return packets_; }
  const std::vector<t3_buffer>& buffers() const { return buffers_; }

  /// The block's next commands are answered with these codes, then with ok again.
  void refuse_next(t3_block block, std::vector<t3_status> codes);
  /// From the next removal of a chunk from the Tracker on the DMA engine is busy, or not any more.
  void send_after_removal(bool sends) { sends_after_removal_ = sends; }
  /// The next kernel packet is refused.
  void refuse_kernel(t3_status code) { failed_kernel_ = code, refuses_ = true; }
  /// It runs, and ends with this code.
  void fail_kernel(t3_status code) { failed_kernel_ = code, refuses_ = false; }
  /// The next fill is taken and ends with this code.
  void fail_fill(t3_status code) { failed_fill_ = code; }
  /// What the other hosts bring to an exchange, by its name: the same as this one's when nothing is said.
  void bring(const std::string& name, std::vector<unsigned char> all) { brought_[name] = std::move(all); }
  /// Nothing that is ordered gets done any more, or again.
  void hang(bool hangs) { hangs_ = hangs; }
  /// The kernels of this queue do not end any more, or again.
  void hold_queue(std::uint32_t queue, bool holds) { held_queues_[queue] = holds; }
  std::uint64_t time_ns() const { return time_ns_; }
  /// Accesses to registers and memory while interrupts were not held off.
  unsigned unlocked_accesses() const { return unlocked_accesses_; }
  /// How often interrupts are held off.
  unsigned locks() const { return locks_; }
  /// Accesses to the block fail on the bus.
  void unplug(t3_block block) { unplugged_ = block; }
  /// Everything that was ordered gets done right after this register has been read the next time.
  void finish_after_read(t3_block block, std::uint32_t offset) { finish_after_ = t3_block_base(gpu_, block) + offset; }
  /// What the driver has reported to the platform by hal.error: "code in words: t3_free: address: ...", "ok" when the
  /// program has read it.
  std::vector<std::string> take_reported() { return std::exchange(reported_, {}); }
  void log_error(const t3_error& error) { errors_.push_back(error); }

  std::uint64_t& reg(t3_block block, std::uint32_t offset) { return registers_[t3_block_base(gpu_, block) + offset]; }

 private:
  t3_status read(std::uint64_t address, std::uint64_t& value);
  t3_status write(std::uint64_t address, std::uint64_t value);
  void command(t3_block block, std::uint32_t offset, std::uint64_t value);
  void output_map_command(std::uint64_t value);
  void tracker_command(std::uint64_t value);
  void dma_command(std::uint64_t value);
  void doorbell(std::uint32_t queue, std::uint64_t count);
  void clear_interrupt(t3_block block, std::uint32_t offset, std::uint64_t bits);
  void pop_error();
  void show_error();
  void answer(t3_block block, std::uint32_t status_offset);
  std::uint64_t lines() const;
  bool raised() const;
  void unlock();
  void finish_work();
  void finish_kernels(std::uint32_t queue);
  t3_status wait(std::uint64_t deadline_ns);
  t3_status exchange(const char* name, const void* mine, std::uint64_t bytes, void* all);
  std::string chunk(t3_block block);
  std::string destination(t3_block block, std::uint32_t offset);
  void note(const std::string& line) { journal_.push_back(line); }

  std::uint32_t gpu_;
  t3_hal hal_{};
  std::map<std::uint64_t, std::uint64_t> registers_;
  std::map<std::uint64_t, unsigned char> memory_;
  std::map<t3_block, std::deque<t3_status>> refusals_;
  t3_status failed_kernel_ = T3_OK, failed_fill_ = T3_OK;
  bool refuses_ = false;                         ///< the failed kernel, which does not run
  std::array<std::uint64_t, T3_QUEUES> rung_{};  ///< packets of each queue
  std::array<bool, T3_QUEUES> held_queues_{};
  t3_block unplugged_ = T3_BLOCK_COUNT;
  std::deque<t3_error> errors_;
  std::vector<std::string> journal_, order_, reported_;
  std::vector<QueuedKernel> packets_;
  std::vector<t3_buffer> buffers_;
  std::uint64_t finish_after_ = 0;
  unsigned waits_ = 0, locks_ = 0, unlocked_accesses_ = 0;
  bool sends_after_removal_ = false, filling_ = false, flushing_ = false, hangs_ = false;
  std::map<std::string, std::vector<unsigned char>> brought_;
  std::map<std::uint64_t, unsigned char> posted_;  ///< bytes of memory that are not ordered yet
  void (*entry_)(void*) = nullptr;
  void* entry_argument_ = nullptr;
  std::uint64_t time_ns_ = 0;
};

}  // namespace t3vp
