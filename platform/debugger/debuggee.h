// The debugger's interface to the program that it debugs: threads with registers of 64 bits and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace t3vp::debug {

/// Nothing here has side effects but those that are asked for, and no call takes simulated time.
class Debuggee {
 public:
  virtual ~Debuggee() = default;

  virtual std::size_t threads() const = 0;  ///< at least 1; they are numbered from 0
  virtual std::string thread_name(std::size_t thread) const = 0;

  /// Returns the XML that describes the registers and their numbers to the client (GDB manual, appendix G).
  virtual std::string description() const = 0;
  /// Returns the number of registers in the packet `g`, numbered from 0.
  virtual unsigned general_registers() const = 0;
  virtual unsigned program_counter() const = 0;  ///< its number
  /// Nothing: there is no register of this number.
  virtual std::optional<std::uint64_t> read_register(std::size_t thread, unsigned number) = 0;
  /// False, and nothing is changed: there is no such register, or it cannot hold this value.
  virtual bool write_register(std::size_t thread, unsigned number, std::uint64_t value) = 0;

  /// Reads memory as the thread sees it, or as another one does where this thread has no access. Returns the bytes that
  /// could be read from the beginning on; if they are fewer, the next one is refused.
  virtual std::string read_memory(std::size_t thread, std::uint64_t address, std::size_t bytes) = 0;
  /// False: some of it is refused.
  virtual bool write_memory(std::size_t thread, std::uint64_t address, std::string_view bytes) = 0;

  /// Returns the text of the command `monitor`, also for unknown words.
  virtual std::string monitor(std::size_t thread, const std::string& words) = 0;
};

}  // namespace t3vp::debug
