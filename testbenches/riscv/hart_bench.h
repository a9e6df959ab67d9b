// A hart with direct memory, a device behind its environment and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "hart/hart.h"
#include "riscv/assembler.h"

namespace t3vp::test {

class HartBench : public riscv::Environment {
 public:
  static constexpr std::uint64_t base = 0x1000, device = 0x20000, handler = base + 0x800, data = base + 0x1000;

  struct Access {
    char kind;
    std::uint64_t address;
    std::uint32_t bytes;
    bool operator==(const Access& o) const { return kind == o.kind && address == o.address && bytes == o.bytes; }
  };

  std::array<unsigned char, 0x4000> memory{};
  std::array<unsigned char, 16> registers{};  ///< of the device
  std::vector<Access> accesses;               ///< by the environment
  riscv::Hart hart{*this, 7, base};

  HartBench() {
    hart.direct_memory().add({base, memory.size(), memory.data(), true, true});
    hart.control.mtvec = handler;
  }

  void place(std::uint64_t address, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      std::memcpy(memory.data() + (address - base), &word, sizeof word);
      address += sizeof word;
    }
  }
  /// Executes these, from the beginning of memory on.
  void execute(std::initializer_list<std::uint32_t> words) {
    place(base, words);
    hart.forget_instructions();
    hart.pc = base;
    hart.run(words.size());
  }
  template <typename T>
  T at(std::uint64_t address) const {
    T value;
    std::memcpy(&value, memory.data() + (address - base), sizeof value);
    return value;
  }
  template <typename T>
  void put(std::uint64_t address, T value) {
    std::memcpy(memory.data() + (address - base), &value, sizeof value);
  }

  bool read(std::uint64_t address, unsigned char* bytes, std::uint32_t count) override {
    accesses.push_back({'r', address, count});
    if (!is_device(address, count)) return false;
    std::memcpy(bytes, registers.data() + (address - device), count);
    return true;
  }
  bool write(std::uint64_t address, const unsigned char* bytes, std::uint32_t count) override {
    accesses.push_back({'w', address, count});
    if (!is_device(address, count)) return false;
    std::memcpy(registers.data() + (address - device), bytes, count);
    return true;
  }
  std::uint64_t cycles() override { return 3 * hart.steps(); }
  std::uint64_t time() override { return 1234; }

 private:
  bool is_device(std::uint64_t address, std::uint32_t count) const {
    return address >= device && address + count <= device + registers.size();
  }
};

}  // namespace t3vp::test
