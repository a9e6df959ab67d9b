#include "register_access/names/register_table.h"

#include <deque>

#include "register_access/names/register_names.h"
#include "registers/catalogue.h"

namespace t3vp {
namespace {

using Slots = std::vector<RegisterSlot>;  ///< one per 32-bit word of a block

Slots slots_of(const BlockDescription& block) {
  Slots slots;
  for (const RegisterDescription& d : block.registers)
    for (std::uint32_t element = 0; element < d.count; ++element)
      for (std::uint32_t byte = 0; byte < d.bytes; byte += 4) {
        const std::size_t word = (d.offset + std::uint64_t{element} * d.stride + byte) / 4;
        if (slots.size() <= word) slots.resize(word + 1);
        slots[word] = {&d, element};
      }
  return slots;
}

struct Table {
  std::vector<const BlockDescription*> blocks;
  std::vector<Slots> slots;
  std::deque<BlockDescription> spares;

  Table() {
    for (const registers::CatalogueEntry& entry : registers::catalogue) {
      fill(static_cast<std::size_t>(entry.block));
      add(entry.description);
    }
  }
  /// Spare windows before this one become blocks without registers.
  void fill(std::size_t window) {
    while (blocks.size() < window) {
      const auto spare = static_cast<address_map::Block>(blocks.size());
      add(spares.emplace_back(BlockDescription{name_of(spare), {}, text_of(spare)}));
    }
  }
  void add(const BlockDescription& block) {
    blocks.push_back(&block);
    slots.push_back(slots_of(block));
  }
};

Table& table() {
  static Table table;
  return table;
}

}  // namespace

const std::vector<const BlockDescription*>& register_blocks() { return table().blocks; }

void add_register_block(std::size_t window, const BlockDescription& block) {
  table().fill(window + 1);
  table().blocks[window] = &block;
  table().slots[window] = slots_of(block);
}

RegisterSlot slot_of(std::size_t window, std::uint64_t offset) {
  const std::vector<Slots>& slots = table().slots;
  const std::uint64_t word = offset / 4;
  return window < slots.size() && word < slots[window].size() ? slots[window][word] : RegisterSlot();
}

}  // namespace t3vp
