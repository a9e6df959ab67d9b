// Memory regions by their keys, with bounds and rights. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/refusal.h"

namespace t3vp::nic {

struct Rights {
  bool local_write = false, remote_read = false, remote_write = false, remote_atomic = false, remote_accumulate = false;
};

enum class Use : std::uint8_t { local_read, local_write, remote_read, remote_write, remote_atomic, remote_accumulate };

class RegionTable {
 public:
  explicit RegionTable(std::uint32_t places) : regions_(places) {}

  bool is_full() const { return used() == regions_.size(); }
  std::uint32_t used() const;
  std::size_t places() const { return regions_.size(); }
  /// Returns the key of the new region, which has never been used before. The table must not be full.
  std::uint32_t add(std::uint64_t base, std::uint64_t bytes, const Rights& rights);
  /// False when no region has the key.
  bool withdraw(std::uint32_t key);
  /// Whether [address, address + bytes) may be used by this key. No bytes need no key.
  Refusal validate(std::uint32_t key, std::uint64_t address, std::uint64_t bytes, Use use) const;
  void clear();

 private:
  struct Region {
    bool valid = false;
    std::uint8_t variant = 0;  ///< low bits of the key, other ones each time
    std::uint64_t base = 0, bytes = 0;
    Rights rights;
  };
  const Region* find(std::uint32_t key) const;

  std::vector<Region> regions_;
};

}  // namespace t3vp::nic
