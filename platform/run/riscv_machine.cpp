#include "run/riscv_machine.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>

#include "config/memory_need.h"
#include "hart/trap_text.h"
#include "io/input_error.h"
#include "riscv/core.h"
#include "run/core_debugger.h"

namespace t3vp {
namespace {

using debug::HostClock;

constexpr std::uint64_t tohost_bytes = 8;

/// Zeroes that take memory of the host only where they are touched.
class Memory {
 public:
  explicit Memory(const MemoryRange& range) : range_(range) {
    void* const data =
        mmap(nullptr, range.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<unsigned char*>(data);
  }
  ~Memory() { munmap(data_, range_.bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  bool has(std::uint64_t address, std::uint64_t bytes) const {
    return address >= range_.base && address <= range_.last() && bytes - 1 <= range_.last() - address;
  }
  unsigned char* at(std::uint64_t address) const { return data_ + (address - range_.base); }
  const MemoryRange& range() const { return range_; }

 private:
  MemoryRange range_;
  unsigned char* data_ = nullptr;
};

/// All memory but `tohost` is for direct access, so that every write there is seen.
class Machine : public sc_core::sc_module {
 public:
  riscv::Core core;

  Machine(const sc_core::sc_module_name& name, const ElfFile& program, std::uint64_t tohost, const RiscvRun& run)
      : sc_module(name), core("core", core_parameters(program, run)), tohost_(tohost) {
    for (const MemoryRange& range : run.memories) memories_.push_back(std::make_unique<Memory>(range));
    for (const ElfFile::Segment& segment : program.segments())
      std::memcpy(memory_of(segment.address, segment.bytes)->at(segment.address), segment.content.data(),
                  segment.content.size());
    core.hart().set_observer(run.observer);
    core.socket.bind(socket_);
    for (auto* line : {&core.timer_interrupt, &core.software_interrupt, &core.external_interrupt}) line->bind(low_);
    socket_.register_b_transport(this, &Machine::transport);
    socket_.register_get_direct_mem_ptr(this, &Machine::direct_memory);
    socket_.register_transport_dbg(this, &Machine::debug_transport);
  }

  std::uint64_t told() const { return told_; }

 private:
  static riscv::CoreParameters core_parameters(const ElfFile& program, const RiscvRun& run) {
    riscv::CoreParameters parameters;
    parameters.start = program.entry();
    parameters.most_steps = run.most_instructions;
    parameters.quantum = sc_core::sc_time(1, sc_core::SC_MS);  // no other block sees what the core does
    return parameters;
  }

  const Memory* memory_of(std::uint64_t address, std::uint64_t bytes) const {
    for (const auto& memory : memories_)
      if (memory->has(address, bytes)) return memory.get();
    return nullptr;
  }

  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    const std::uint64_t address = transaction.get_address(), bytes = transaction.get_data_length();
    const Memory* const memory = memory_of(address, bytes);
    transaction.set_response_status(memory != nullptr ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (memory == nullptr) return;
    if (transaction.is_read()) std::memcpy(transaction.get_data_ptr(), memory->at(address), bytes);
    if (transaction.is_write()) std::memcpy(memory->at(address), transaction.get_data_ptr(), bytes);
    const bool is_tohost = address + (bytes - 1) >= tohost_ && address <= tohost_ + (tohost_bytes - 1);
    transaction.set_dmi_allowed(!is_tohost);
    if (is_tohost && transaction.is_write()) look_at_tohost();
  }

  /// Serves the first byte's memory, as many bytes as it has. A write to `tohost` reports nothing here.
  unsigned debug_transport(tlm::tlm_generic_payload& transaction) {
    const std::uint64_t address = transaction.get_address();
    const Memory* const memory = memory_of(address, 1);
    if (memory == nullptr || transaction.get_data_length() == 0) return 0;
    const std::uint64_t behind = memory->range().last() - address;  // one less than what is left
    const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(transaction.get_data_length() - 1, behind) + 1);
    if (transaction.is_read()) std::memcpy(transaction.get_data_ptr(), memory->at(address), bytes);
    if (transaction.is_write()) std::memcpy(memory->at(address), transaction.get_data_ptr(), bytes);
    return bytes;
  }

  void look_at_tohost() {
    std::memcpy(&told_, memory_of(tohost_, tohost_bytes)->at(tohost_), sizeof told_);
    if (told_ != 0) core.halt();
  }

  /// The memory of the address up to `tohost`, or from behind it on.
  bool direct_memory(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) {
    const std::uint64_t address = transaction.get_address();
    const Memory* const memory = memory_of(address, 1);
    if (memory == nullptr || (address >= tohost_ && address - tohost_ < tohost_bytes)) return false;
    std::uint64_t first = memory->range().base, last = memory->range().last();
    if (address < tohost_) last = std::min(last, tohost_ - 1);
    if (address > tohost_) first = std::max(first, tohost_ + tohost_bytes);
    dmi.set_dmi_ptr(memory->at(first));
    dmi.set_start_address(first);
    dmi.set_end_address(last);
    dmi.allow_read_write();
    return true;
  }

  tlm_utils::simple_target_socket<Machine, 64> socket_{"socket"};
  sc_core::sc_signal<bool> low_{"low"};
  std::vector<std::unique_ptr<Memory>> memories_;
  std::uint64_t tohost_;
  std::uint64_t told_ = 0;
};

void require_apart(const std::vector<MemoryRange>& memories) {
  for (auto a = memories.begin(); a != memories.end(); ++a)
    for (auto b = memories.begin(); b != a; ++b)
      if (a->base <= b->last() && b->base <= a->last())
        throw InputError("--memory " + a->given, "an overlap with " + b->given, "memories that do not overlap");
}

void require_in_memory(const ElfFile& program, const std::string& what, std::uint64_t first, std::uint64_t last,
                       const std::vector<MemoryRange>& memories) {
  for (const MemoryRange& memory : memories)
    if (first >= memory.base && last <= memory.last()) return;
  std::string all;
  for (const MemoryRange& memory : memories)
    all += fmt::format("{}{:#x} to {:#x}", all.empty() ? "" : ", ", memory.base, memory.last());
  throw InputError(program.file().string(), fmt::format("{} at {:#x} to {:#x}", what, first, last),
                   fmt::format("it within one memory ({}; see --memory)", all));
}

/// Returns the address of `tohost`.
std::uint64_t require_program(const ElfFile& program, const std::vector<MemoryRange>& memories) {
  for (const ElfFile::Segment& segment : program.segments())
    require_in_memory(program, "a segment", segment.address, segment.last(), memories);
  require_in_memory(program, "the entry point", program.entry(), program.entry() + 1, memories);
  const std::optional<std::uint64_t> tohost = program.symbol("tohost");
  if (!tohost)
    throw InputError(program.file().string(), "no symbol tohost", "one, which the program writes when it ends");
  if (*tohost % tohost_bytes != 0)
    throw InputError(program.file().string(), fmt::format("symbol tohost at {:#x}", *tohost), "a multiple of 8");
  require_in_memory(program, "symbol tohost", *tohost, *tohost + (tohost_bytes - 1), memories);
  return *tohost;
}

void require_host_memory(const std::vector<MemoryRange>& memories) {
  for (const MemoryRange& memory : memories)
    require_memory("--memory " + memory.given, {{"what it has", static_cast<double>(memory.bytes)}});
}

std::unique_ptr<CoreDebugger> debugger_of(Machine& machine, const RiscvRun& run, HostClock::time_point until) {
  if (run.debugger == nullptr) return nullptr;
  const auto monitor = [](std::size_t, const std::string&) {
    return std::string("monitor shows the hardware of a GPU; here is a core with memory alone\n");
  };
  return std::make_unique<CoreDebugger>(*run.debugger, std::vector<CoreDebugger::DebuggedCore>{{&machine.core, "core"}},
                                        monitor, CoreDebugger::Times{until, {}});
}

HostClock::time_point end_of_time(const RiscvRun& run) {
  if (!run.timeout_s) return debug::without_end;
  return HostClock::now() +
         std::chrono::duration_cast<HostClock::duration>(std::chrono::duration<double>(*run.timeout_s));
}

void simulate(Machine& machine, CoreDebugger* debugger, HostClock::time_point until) {
  const riscv::Core& core = machine.core;
  while (!core.is_halted() && !core.hart().sleeps() && HostClock::now() < until) {
    sc_core::sc_start(1, sc_core::SC_MS);
    if (debugger != nullptr) debugger->look_for_interrupt();
  }
}

RiscvOutcome::End end_of(const Machine& machine, const RiscvRun& run, const CoreDebugger* debugger) {
  using End = RiscvOutcome::End;
  if (debugger != nullptr && debugger->is_killed()) return End::killed;
  if (debugger != nullptr && debugger->has_waited_in_vain()) return End::unvisited;
  const riscv::Hart& hart = machine.core.hart();
  if (machine.told() != 0) return End::told;
  if (hart.is_lost()) return End::lost;
  if (hart.steps() >= run.most_instructions) return End::too_long;
  return hart.sleeps() ? End::asleep : End::too_late;
}

}  // namespace

std::string reason_of(const RiscvOutcome& outcome, const RiscvRun& run) {
  using End = RiscvOutcome::End;
  switch (outcome.end) {
    case End::too_long:
      return fmt::format("--max-instructions: the program has not ended after {} instructions", run.most_instructions);
    case End::too_late:
      return fmt::format("--timeout: the program has not ended after {} s", *run.timeout_s);
    case End::unvisited:
      return fmt::format("--timeout: no debugger has come within {} s", *run.timeout_s);
    case End::asleep:
      return "the program waits for an interrupt (wfi), of which this machine has none";
    case End::lost:
      return outcome.loss;
    case End::killed:
      return "the debugger has ended the run";
    case End::told:
      break;
  }
  return fmt::format(
      "the program has written {:#x} to tohost, 1 or another odd value expected: calls of a host are not served",
      outcome.tohost);
}

RiscvOutcome run_riscv(const ElfFile& program, const RiscvRun& run) {
  require_apart(run.memories);
  const std::uint64_t tohost = require_program(program, run.memories);
  require_host_memory(run.memories);
  Machine machine("machine", program, tohost, run);
  const HostClock::time_point until = end_of_time(run);
  const std::unique_ptr<CoreDebugger> debugger = debugger_of(machine, run, until);
  simulate(machine, debugger.get(), until);
  const riscv::Hart& hart = machine.core.hart();
  RiscvOutcome outcome;
  outcome.end = end_of(machine, run, debugger.get());
  outcome.tohost = machine.told();
  outcome.instructions = hart.retired();
  outcome.pc = hart.pc;
  if (hart.is_lost())
    outcome.loss = riscv::text_of_loss(hart, [](std::uint64_t address) { return fmt::format("{:#x}", address); });
  if (debugger && !outcome.has_result()) debugger->show_end(reason_of(outcome, run) + "; the run is at its end");
  if (debugger) debugger->exit(outcome.has_passed() ? 0 : 1);
  return outcome;
}

}  // namespace t3vp
