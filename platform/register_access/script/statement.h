// The statements of a register script, one a line.
//
//   gpu0.dma.rows = 64                                     writes a register
//   gpu0.dma.command = {action = add, operation = update}  and its fields, the others being 0
//   gpu0.dma.layout.element = fp16                         one field: reads the others before, where that is possible
//   read gpu0.dma.status                                   shows what is read; `read` may be left out
//   read gpu0.dma                                          shows all registers of the block
//   refused gpu0.dma.used = 5                              the write has to be refused
//   refused read gpu0.dma.command                          the read has to be; `read` may be left out
//   expect gpu0.dma.status.code == ok                      ==, !=, <, <=, > or >=
//   expect gpu0.dma.status == 0x100 mask 0xff00            of a register without its other bits
//   wait gpu0.dma.interrupt.filled == 1 timeout 10 us      reads until it is so; 1 ms unless given
//   delay 500 ns                                           ps, ns, us or ms
//   fill gpu0.memory[0x1000, 64] u16 = 3 step 1            local memory: address and bytes; u8, u16, u32 (unless given)
//   expect gpu0.memory[0x1000, 64] u16 == 3 step 1         or u64; each element is the one before it plus the step
//   expect gpu1.memory[0, 64] == gpu0.memory[0x1000, 64]   the same bytes
//   read gpu0.memory[0x1000, 64] u16                       shows them
//
// `#` begins a comment. Numbers are decimal or hexadecimal behind 0x. A statement without any effect is an error, such
// as a comparison that always or never holds. So is a number of bytes that is no multiple of the element.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "protocol/picoseconds.h"
#include "register_access/names/register_names.h"

namespace t3vp {

/// The words that a statement may start with, besides a register or memory.
inline constexpr const char* script_verbs[] = {"read", "refused", "expect", "wait", "delay", "fill"};

/// The names that scripts may use.
struct ScriptMachine {
  std::uint64_t gpus = 1;
  std::uint64_t memory_bytes = 0;  ///< of the GPU that has least
};

struct MemorySpan {
  std::uint64_t gpu = 0;
  std::uint64_t address = 0, bytes = 0;  ///< in the GPU's memory

  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  ///< that a statement may touch
};

/// Elements one behind the other, little endian.
struct Pattern {
  unsigned bytes = 4;  ///< of an element
  std::uint64_t first = 0, step = 0;
};

enum class Relation { equal, not_equal, less, less_equal, greater, greater_equal };

struct Statement {
  enum class Kind {
    nothing,
    write,
    read,
    expect,
    wait,
    delay,
    fill,
    read_block,
    read_memory,
    expect_memory,
    compare_memory
  };
  Kind kind = Kind::nothing;
  std::size_t column = 0;   ///< of what it is about, from 1
  bool is_refused = false;  ///< of a read or write: it has to be

  RegisterPlace place;  ///< of a register or field
  std::uint64_t value =
      0;  ///< of a write: of all the register, or of the field, not shifted; else what is compared with
  std::optional<std::uint64_t> mask;
  Relation relation = Relation::equal;
  Picoseconds time = 1'000'000'000;  ///< of a wait at most, of a delay

  std::vector<RegisterPlace> block;  ///< registers that read_block shows

  MemorySpan memory, other;
  Pattern pattern;
};

/// A line that is no statement.
struct ScriptError : std::runtime_error {
  ScriptError(std::size_t place, std::string what_is_found, std::string what_is_expected);

  std::size_t column;  ///< from 1
  std::string found, expected;
};

/// Throws ScriptError.
Statement parse_statement(std::string_view line, const ScriptMachine& machine);

/// Some editors begin a file of UTF-8 with one.
std::string_view without_byte_order_mark(std::string_view first_line);

const char* name_of(Relation relation);

}  // namespace t3vp
