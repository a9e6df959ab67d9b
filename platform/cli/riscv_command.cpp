#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/command_line.h"
#include "cli/debugger_port.h"
#include "cli/instruction_trace.h"
#include "cli/named_output.h"
#include "config/elf_file.h"
#include "io/console.h"
#include "io/input_error.h"
#include "register_access/names/register_names.h"
#include "report/results_folder.h"
#include "run/riscv_machine.h"

namespace t3vp {
namespace {

constexpr std::pair<std::string_view, unsigned> units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};

std::optional<std::uint64_t> size_of(std::string_view text) {
  unsigned shift = 0;
  for (const auto& [unit, its_shift] : units) {
    if (text.size() < unit.size() || text.substr(text.size() - unit.size()) != unit) continue;
    text.remove_suffix(unit.size());
    shift = its_shift;
  }
  const std::optional<std::uint64_t> number = number_of(text);
  if (!number || *number > ~std::uint64_t{0} >> shift) return std::nullopt;
  return *number << shift;
}

MemoryRange memory_of(const std::string& given) {
  const std::size_t colon = given.find(':');
  const std::optional<std::uint64_t> base = number_of(given.substr(0, colon));
  const std::optional<std::uint64_t> bytes =
      colon == std::string::npos ? std::nullopt : size_of(std::string_view(given).substr(colon + 1));
  if (!base || !bytes || *bytes == 0 || *bytes - 1 > ~*base)
    throw InputError("--memory", given.empty() ? "nothing" : given,
                     "BASE:SIZE within 64-bit addresses, such as 0x80000000:64MiB or 0x1000:4096");
  return {*base, *bytes, given};
}

}  // namespace

int run_on_riscv(const RiscvCommand& command) {
  RiscvRun run;
  for (const std::string& given : command.memories) run.memories.push_back(memory_of(given));
  run.most_instructions = command.most_instructions;
  run.timeout_s = command.timeout_s;
  const ElfFile program(command.file);
  require_apart({command.trace.empty() ? std::vector<std::filesystem::path>{} : std::vector{command.trace}, {}});
  const std::unique_ptr<OutputFile> file = named_output("--trace-instructions", command.trace);
  std::unique_ptr<InstructionTrace> trace;
  if (file) trace = std::make_unique<InstructionTrace>(file->stream());
  run.observer = trace.get();
  const std::unique_ptr<debug::TcpPort> port = debugger_port(command.gdb);
  run.debugger = port.get();
  const RiscvOutcome outcome = run_riscv(program, run);
  if (file) file->complete();
  if (!outcome.has_result()) {
    print_error(fmt::format("t3vp: {}: {} (pc {:#x}, {} instructions retired)", command.file.string(),
                            reason_of(outcome, run), outcome.pc, outcome.instructions));
    return failed;
  }
  print(fmt::format("{}: {} after {} instructions\n", command.file.string(),
                    outcome.has_passed() ? "passed" : fmt::format("failed with {}", outcome.tohost >> 1),
                    outcome.instructions));
  return outcome.has_passed() ? success : failed;
}

}  // namespace t3vp
