// The memory regions that software registers and withdraws.
#pragma once

#include "nic/nic_status.h"
#include "nic/region_table.h"
#include "protocol/data_sockets.h"

namespace t3vp::nic {

class MemoryRegions {
 public:
  /// `memory` leads to the memory that regions are of.
  MemoryRegions(registers::Nic& registers, NicStatus& status, DataInitiatorBase& memory, std::uint32_t places);

  const RegionTable& table() const { return table_; }
  void clear() { table_.clear(); }

 private:
  void command();
  void add();
  void withdraw();

  registers::Nic& registers_;
  NicStatus& status_;
  DataInitiatorBase& memory_;
  RegionTable table_;
};

}  // namespace t3vp::nic
