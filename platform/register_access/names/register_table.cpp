#include "register_access/names/register_table.h"

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

std::vector<Slots> slots_of_all_blocks() {
  std::vector<Slots> all;
  for (const BlockDescription* block : register_blocks()) all.push_back(slots_of(*block));
  return all;
}

}  // namespace

const std::vector<const BlockDescription*>& register_blocks() {
  static const std::vector<const BlockDescription*> blocks = [] {
    std::vector<const BlockDescription*> all;
    for (const registers::CatalogueEntry& entry : registers::catalogue) all.push_back(&entry.description);
    return all;
  }();
  return blocks;
}

RegisterSlot slot_of(std::size_t window, std::uint64_t offset) {
  static const std::vector<Slots> slots = slots_of_all_blocks();
  const std::uint64_t word = offset / 4;
  return window < slots.size() && word < slots[window].size() ? slots[window][word] : RegisterSlot();
}

}  // namespace t3vp
