// Three threads with a few registers and a memory, and a client that frames what it asks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "debugger/gdb_server.h"

namespace t3vp::test {

class FakeDebuggee : public debug::Debuggee {
 public:
  static constexpr std::uint64_t base = 0x1000;
  static constexpr unsigned registers = 4, control_register = 100;

  // The program counter is even.
  std::string memory = std::string(256, '\0');
  std::vector<std::map<unsigned, std::uint64_t>> values = std::vector<std::map<unsigned, std::uint64_t>>(3);

  std::size_t threads() const override { return values.size(); }
  std::string thread_name(std::size_t thread) const override { return "core <" + std::to_string(thread) + ">"; }
  std::string description() const override { return "<target>#$}*" + std::string(20000, 'x') + "</target>"; }
  unsigned general_registers() const override { return registers; }
  unsigned program_counter() const override { return registers - 1; }
  std::optional<std::uint64_t> read_register(std::size_t thread, unsigned number) override {
    if (number >= registers && number != control_register) return std::nullopt;
    return values.at(thread)[number];
  }
  bool write_register(std::size_t thread, unsigned number, std::uint64_t value) override {
    if (number >= registers && number != control_register) return false;
    if (number == program_counter() && value % 2 != 0) return false;
    values.at(thread)[number] = value;
    return true;
  }
  std::string read_memory(std::size_t, std::uint64_t address, std::size_t bytes) override {
    const std::uint64_t offset = address - base;
    return offset < memory.size() ? memory.substr(offset, bytes) : std::string();
  }
  bool write_memory(std::size_t, std::uint64_t address, std::string_view bytes) override {
    const std::uint64_t offset = address - base;
    if (offset > memory.size() || bytes.size() > memory.size() - offset) return false;
    memory.replace(offset, bytes.size(), bytes);
    return true;
  }
  std::string monitor(std::size_t thread, const std::string& words) override {
    return std::to_string(thread) + " " + words + "\n";
  }
};

/// Packets and acknowledgements, nothing else.
inline bool is_well_formed(const std::string& output) {
  std::size_t i = 0;
  while (i < output.size()) {
    if (output[i] == '+' || output[i] == '-') {
      ++i;
      continue;
    }
    const std::size_t end = output.find('#', i);
    if (output[i] != '$' || end == std::string::npos || output.size() < end + 3) return false;
    if (end - i - 1 > debug::PacketReader::most_bytes) return false;
    if (debug::framed(output.substr(i + 1, end - i - 1)) != output.substr(i, end + 3 - i)) return false;
    i = end + 3;
  }
  return true;
}

class GdbBench {
 public:
  FakeDebuggee debuggee;
  debug::GdbServer server{debuggee};

  /// Sends a packet and returns the content of the one answer, which has to be acknowledged and well-formed; "(none)"
  /// when there is none.
  std::string ask(const std::string& content) {
    server.receive(debug::framed(content));
    return answer();
  }
  std::string answer() {
    std::string output = server.take_output();
    if (!output.empty() && output.front() == '+') output.erase(0, 1);
    if (output.empty()) return "(none)";
    const std::size_t end = output.find('#');
    if (output.front() != '$' || end == std::string::npos) return "(malformed) " + output;
    const std::string content = output.substr(1, end - 1);
    return output == debug::framed(content) ? content : "(malformed) " + output;
  }
};

}  // namespace t3vp::test
