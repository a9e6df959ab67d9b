// Whole runs of a kernel that puts, gets and signals by its GPU's NIC in a symmetric heap.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "driver_errors/nic_systems.h"
#include "driver_errors/whole_runs.h"
#include "t3/shmem.h"
#include "t3/shmem_device.h"

namespace t3vp::test::shmem_runs {

inline constexpr std::uint64_t piece = 1 << 16;  // of the heap, for each purpose
inline constexpr std::uint32_t gpus_max = 5;

/// The arguments of the kernel.
struct Arguments {
  std::uint64_t table, table_bytes, source, target, flags;
  std::uint32_t gpu, gpus, workgroups, contexts;
};

/// The program of a GPU and its heap.
struct Program {
  const t3_hal* hal;
  t3_context gpu;
  t3_shmem_heap heap;
};

/// A case: a wave of the kernel, and the further actions of host and kernel.
struct Case {
  void (*run)(t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) = nullptr;
  std::uint32_t workgroups = 1, contexts = 1, entries = 16;
  bool cached = false;
  void (*change)(std::uint32_t gpu, t3_shmem_options& options) = nullptr;
  void (*before)(Program& program) = nullptr;  ///< the kernel
  void (*beside)(Program& program) = nullptr;  ///< the kernel, when it has been queued
  bool collectives = false;                    ///< whose counters the heap has
  bool opens_itself = false;                   ///< the kernel opens its context
  std::uint32_t waves = 1;                     ///< of a workgroup
  bool leaves_heap = false;                    ///< which is not closed in the end
};

/// What a run has left: memory of each GPU, how its kernel has ended and how long that took, what its driver has
/// logged.
extern std::array<std::vector<unsigned char>, gpus_max> targets, flags;
extern std::array<t3_status, gpus_max> opened, ended, closed;
extern std::array<std::uint64_t, gpus_max> kernel_ns;
extern std::array<std::vector<std::string>, gpus_max> logged_lines;

/// Returns byte i of a GPU's source.
unsigned char pattern(std::uint64_t gpu, std::uint64_t i);

/// On two GPUs unless the settings say otherwise.
RunResult run(const Case& what, const std::vector<std::string>& settings = {});

/// All kernels have ended well and no log has anything.
void require_ended(const RunResult& result, std::uint32_t gpus = 2);
bool tells(const RunResult& result, const std::string& text);

/// A wave of GPU 0 alone makes a mistake, which ends its kernel with this text. The heap may have `collectives`.
void require_mistake(void (*wave)(t3_wave*, const Arguments&, t3_shmem_ctx*), const std::string& text,
                     bool collectives = false);

inline std::uint32_t other(const Arguments& told) { return 1 - told.gpu; }
bool await_flag(t3_wave* wave, std::uint64_t address, std::uint64_t value);
std::uint64_t flag_of(std::uint32_t gpu, std::uint64_t number);

}  // namespace t3vp::test::shmem_runs
