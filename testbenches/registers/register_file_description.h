// The *.registers.json files as the tests read them: straight from JSON, without the generator under test.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace t3vp::reference {

struct Field {
  std::string name, access;
  unsigned msb = 0, lsb = 0;
  std::optional<std::vector<std::uint64_t>> members;

  std::uint64_t of(std::uint64_t value) const { return value >> lsb & (~std::uint64_t{0} >> (63 - (msb - lsb))); }
};

struct Register {
  std::string name, access;
  std::uint64_t offset = 0, reset = 0, count = 1, stride = 0;
  unsigned bytes = 4;
  bool sync = false, locked_while_busy = false;
  std::vector<Field> fields;  ///< one over the whole width when the description has none

  std::uint64_t address(std::uint64_t element) const { return offset + element * stride; }
  std::uint64_t end() const { return address(count - 1) + bytes; }
  bool readable() const { return access != "WO"; }
  bool writable() const { return access != "RO" && access != "RC"; }
  /// The field that covers a bit; null when the bit is reserved.
  const Field* field_at(unsigned bit) const;

  /// A random value whose enumerated fields hold members and whose reserved bits are 0.
  std::uint64_t legal_value(std::mt19937_64& random) const;
  /// Bit by bit from the access types.
  std::uint64_t after_write(std::uint64_t before, std::uint64_t written) const;
  std::uint64_t as_read(std::uint64_t stored) const;
};

using Block = std::vector<Register>;

/// Every block of models/, by name.
std::map<std::string, Block> all_blocks();

}  // namespace t3vp::reference
