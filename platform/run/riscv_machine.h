// One RISC-V core with memories and nothing else, for any bare-metal program that reports its end by its symbol
// `tohost`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/elf_file.h"
#include "debugger/connection.h"
#include "hart/environment.h"

namespace t3vp {

struct MemoryRange {
  std::uint64_t base = 0, bytes = 0;  ///< never past the end of the address space
  std::string given;                  ///< as the user has written it, for messages
  std::uint64_t last() const { return base + (bytes - 1); }
};

struct RiscvRun {
  std::vector<MemoryRange> memories;
  std::uint64_t most_instructions = 0;  ///< those that raise exceptions included
  std::optional<double> timeout_s;      ///< of the host, waits for the debugger included
  riscv::Observer* observer = nullptr;  ///< null: none
  debug::TcpPort* debugger = nullptr;   ///< where one is waited for; null: none
};

struct RiscvOutcome {
  /// The reason for the end: `told` when the program has written to `tohost`, `unvisited` when no debugger has come in
  /// time.
  enum class End { told, too_long, too_late, unvisited, asleep, lost, killed };
  End end = End::told;
  std::uint64_t tohost = 0;
  std::uint64_t instructions = 0;  ///< retired
  std::uint64_t pc = 0;
  std::string loss;  ///< of a hart that is lost: why, in words
  /// Returns whether the program has reported its result; 1 means success.
  bool has_result() const { return end == End::told && tohost % 2 == 1; }
  bool has_passed() const { return has_result() && tohost == 1; }
};

/// Why there is no result, in words.
std::string reason_of(const RiscvOutcome& outcome, const RiscvRun& run);

/// Throws InputError when memories overlap or the program does not fit into them. One run a process.
RiscvOutcome run_riscv(const ElfFile& program, const RiscvRun& run);

}  // namespace t3vp
