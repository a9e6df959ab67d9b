// The memory that this process has, as the operating system reports it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace t3vp {

/// The memory map at the time of construction, from /proc/self/maps. Without such a file, everything may be read and
/// called.
class HostMemory {
 public:
  HostMemory();

  bool can_be_read(const void* at, std::size_t bytes) const;
  bool can_be_called(const void* at) const;

 private:
  struct Mapping {
    std::uintptr_t begin, end;
    bool is_readable, is_code;
  };
  const Mapping* mapping_of(std::uintptr_t address) const;

  std::vector<Mapping> mappings_;  ///< by address
};

}  // namespace t3vp
