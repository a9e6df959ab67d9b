#include "riscv_firmware/register_writes.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "command_line/program.h"
#include "node/node.h"
#include "registers/catalogue.h"
#include "report/report.h"
#include "run/simulation.h"

namespace t3vp::test {
namespace {

/// The register's block and name, "dma.command".
std::string name_at(std::uint64_t address) {
  const std::uint64_t local = address_map::local_of(address);
  for (const registers::CatalogueEntry& entry : registers::catalogue) {
    const std::uint64_t offset = local - address_map::block_base(entry.block);
    for (const RegisterDescription& r : entry.description.registers) {
      const std::uint64_t within = offset - r.offset, stride = std::max<std::uint64_t>(r.stride, r.bytes);
      if (within >= r.count * stride || within % stride >= r.bytes) continue;
      return fmt::format("{}.{}", entry.description.name, r.name);
    }
  }
  return "nothing";
}

/// Writes of waits, which come as often as a program finds that it has to wait: it enables lines and clears their
/// causes.
bool is_of_waits(const std::string& name) {
  const std::string cause = ".interrupt";
  return name == "interrupt_controller.enable" ||
         (name.size() > cause.size() && name.compare(name.size() - cause.size(), cause.size(), cause) == 0);
}

/// The driver leaves the time there at which it has taken the GPU over.
bool has_time(std::uint64_t address) {
  return address_map::local_of(address) == address_map::block_base(address_map::Block::system) + 0x40;
}

std::string text_of_write(const tlm::tlm_generic_payload& access) {
  if (has_time(access.get_address())) return fmt::format("{:#x} = a time", access.get_address());
  std::uint64_t value = 0;
  std::memcpy(&value, access.get_data_ptr(), access.get_data_length());
  return fmt::format("{} at {:#x} = {:#x}, {} bytes", name_at(access.get_address()), access.get_address(), value,
                     access.get_data_length());
}

void record(const RunConfiguration& configuration, const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> writes;
  RunOptions options;
  options.watch = [&writes](Node& node) {
    writes.resize(node.gpus().size());
    for (std::size_t g = 0; g < writes.size(); ++g)
      node.gpus()[g]->processor.on_access(
          [&of_gpu = writes[g], &processor = node.gpus()[g]->processor](const tlm::tlm_generic_payload& access) {
            if (!access.is_write() || address_map::is_hbm(access.get_address()) || processor.serves_since() != never)
              return;
            if (is_of_waits(name_at(access.get_address()))) return;
            of_gpu.push_back(text_of_write(access));
          });
  };
  const RunResult result = simulate(configuration, options);
  std::ofstream out(file);
  for (std::size_t g = 0; g < writes.size(); ++g)
    for (const std::string& write : writes[g]) out << "gpu " << g << ": " << write << "\n";
  out << (failures(result).empty() ? "passed" : "failed: " + failures(result).front()) << "\n";
}

}  // namespace

std::vector<std::string> register_writes(const RunConfiguration& configuration) {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    try {
      record(configuration, folder / "writes");
      _exit(0);
    } catch (...) {
      _exit(127);
    }
  }
  waitpid(child, nullptr, 0);
  std::vector<std::string> lines;
  std::ifstream in(folder / "writes");
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace t3vp::test
