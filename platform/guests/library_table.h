// Checks of the table of a library or of an executable for RISC-V (t3/exports.h) before any of its functions is called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/input_error.h"
#include "t3/exports.h"

namespace t3vp {

/// The memory that a table is in, by the addresses of those who use it.
class TableMemory {
 public:
  virtual ~TableMemory() = default;
  /// False when not all of it can be read.
  virtual bool read(std::uint64_t address, void* to, std::size_t bytes) const = 0;
  virtual bool has_code(std::uint64_t address) const = 0;
};

/// The names of its programs, in the table's order. Throws InputError about a table of another version, one that points
/// where nothing can be read or called, lists without an end, and names that are none or are there twice. What kernels
/// are beyond that, KernelRegistry says. Structures are those of the host.
std::vector<std::string> require_right(std::uint64_t table, const TableMemory& memory, const InputPlace& place);
/// Checks a table of this process.
std::vector<std::string> require_right(const t3_export_table& table, const InputPlace& place);

}  // namespace t3vp
