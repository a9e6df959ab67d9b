#include "register_access/names/register_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "protocol/address_map.h"
#include "register_access/names/register_table.h"

namespace t3vp {
namespace {

/// Reads a name from left to right.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  bool at_end() const { return next_ == text_.size(); }
  bool is_next(char character) const { return !at_end() && text_[next_] == character; }

  bool take(char character) {
    if (!is_next(character)) return false;
    ++next_;
    return true;
  }

  /// Returns the text up to a dot or bracket.
  std::string_view word() {
    part_ = next_;
    while (!at_end() && text_[next_] != '.' && text_[next_] != '[') ++next_;
    return text_.substr(part_, next_ - part_);
  }

  /// Returns the text in brackets, or after one that is not closed.
  std::string_view index() {
    part_ = next_ + 1;
    const std::size_t end = std::min(text_.find(']', part_), text_.size());
    next_ = std::min(end + 1, text_.size());
    return text_.substr(part_, end - part_);
  }
  bool is_behind(char character) const { return next_ > part_ && text_[next_ - 1] == character; }

  /// Rejects the word that was read last.
  [[noreturn]] void reject(const std::string& expected) const {
    throw NameError(part_, std::string(text_.substr(part_, next_ - part_)), expected);
  }
  /// Rejects the text that comes next.
  [[noreturn]] void reject_rest(const std::string& expected) const {
    throw NameError(next_, std::string(text_.substr(next_)), expected);
  }

 private:
  std::string_view text_;
  std::size_t part_ = 0, next_ = 0;
};

template <typename Entries, typename Name>
std::string one_of(const Entries& entries, Name name_of) {
  std::string list;
  for (const auto& entry : entries) list += fmt::format("{}{}", list.empty() ? "" : ", ", name_of(entry));
  return "one of " + list;
}

std::optional<std::uint64_t> gpu_of(std::string_view word) {
  if (word.substr(0, 3) != "gpu" || word.size() == 3 || word[3] < '0' || word[3] > '9') return std::nullopt;
  if (word.size() > 4 && (word[3] == '0' || word[4] == 'x')) return std::nullopt;
  const std::optional<std::uint64_t> gpu = number_of(word.substr(3));
  return gpu && *gpu < address_map::all_gpus ? gpu : std::nullopt;
}

std::size_t window_of(NameReader& reader, std::string_view name) {
  const auto& blocks = register_blocks();
  const auto block = std::find_if(blocks.begin(), blocks.end(), [&](const auto* b) { return b->name == name; });
  if (block == blocks.end()) reader.reject(one_of(blocks, [](const auto* b) { return b->name; }));
  return static_cast<std::size_t>(block - blocks.begin());
}

const RegisterDescription* register_of(NameReader& reader, const BlockDescription& block) {
  if (!reader.take('.')) reader.reject_rest(fmt::format("a dot and a register of {}", block.name));
  const std::string_view name = reader.word();
  for (const RegisterDescription& d : block.registers)
    if (d.name == name) return &d;
  reader.reject(one_of(block.registers, [](const RegisterDescription& d) { return d.name; }));
}

std::uint32_t element_of(NameReader& reader, const RegisterDescription& d) {
  if (d.count == 1) {
    if (reader.is_next('[')) reader.reject_rest(fmt::format("none: {} is no array", d.name));
    return 0;
  }
  const std::string expected = fmt::format("{} to {}", 0, d.count - 1);
  if (!reader.is_next('[')) reader.reject_rest(fmt::format("[{}] of the array {}", expected, d.name));
  const std::optional<std::uint64_t> element = number_of(reader.index());
  if (!element || *element >= d.count) reader.reject(expected);
  if (!reader.is_behind(']')) reader.reject_rest("]");
  return static_cast<std::uint32_t>(*element);
}

const FieldDescription* field_of(NameReader& reader, const RegisterDescription& d) {
  if (reader.at_end()) return nullptr;
  const bool has_fields = !d.fields.empty();
  const std::string what = has_fields ? fmt::format("a dot and a field of {}, or nothing", d.name)
                                      : fmt::format("nothing: {} has no fields", d.name);
  if (!has_fields || !reader.take('.')) reader.reject_rest(what);
  const std::string_view name = reader.word();
  for (const FieldDescription& field : d.fields)
    if (field.name == name) return reader.at_end() ? &field : (reader.reject_rest("nothing"), nullptr);
  reader.reject(one_of(d.fields, [](const FieldDescription& field) { return field.name; }));
}

std::uint64_t address_of(const RegisterPlace& place, std::size_t window) {
  return address_map::on_gpu(place.gpu, address_map::registers_base + window * address_map::block_bytes +
                                            place.description->offset +
                                            std::uint64_t{place.element} * place.description->stride);
}

}  // namespace

std::string name_in_block(const RegisterPlace& place) {
  if (place.description->count == 1) return place.description->name;
  return fmt::format("{}[{}]", place.description->name, place.element);
}

NameError::NameError(std::size_t place, std::string what_is_found, std::string what_is_expected)
    : runtime_error(
          fmt::format("found {}, expected {}", what_is_found.empty() ? "nothing" : what_is_found, what_is_expected)),
      position(place),
      found(std::move(what_is_found)),
      expected(std::move(what_is_expected)) {}

std::uint64_t RegisterPlace::mask() const {
  return field != nullptr ? field->mask() : ~std::uint64_t{0} >> (64 - 8 * description->bytes);
}

RegisterPlace find_register(std::string_view name, std::optional<std::uint64_t> gpu) {
  NameReader reader(name);
  RegisterPlace place;
  std::string_view word = reader.word();
  const std::optional<std::uint64_t> named = gpu_of(word);
  if (named) {
    if (!reader.take('.')) reader.reject_rest("a dot and a block");
    word = reader.word();
  } else if (!gpu) {
    reader.reject("gpu and its number, such as gpu0");
  }
  place.gpu = named ? *named : *gpu;
  const std::size_t window = window_of(reader, word);
  place.block = register_blocks()[window];
  place.description = register_of(reader, *place.block);
  place.element = element_of(reader, *place.description);
  place.field = field_of(reader, *place.description);
  place.address = address_of(place, window);
  return place;
}

std::vector<RegisterPlace> registers_of_block(std::string_view name) {
  std::vector<RegisterPlace> places;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::optional<std::uint64_t> gpu = gpu_of(name.substr(0, dot));
  if (!gpu || dot == name.size()) return places;
  for (std::size_t window = 0; window < register_blocks().size(); ++window) {
    const BlockDescription& block = *register_blocks()[window];
    if (block.name != name.substr(dot + 1)) continue;
    for (const RegisterDescription& description : block.registers)
      for (std::uint32_t element = 0; element < description.count; ++element) {
        places.push_back({*gpu, &block, &description, element});
        places.back().address = address_of(places.back(), window);
      }
  }
  return places;
}

std::optional<RegisterPlace> register_at(std::uint64_t address) {
  const std::uint64_t local = address_map::local_of(address);
  if (local < address_map::registers_base) return std::nullopt;
  const std::size_t window = (local - address_map::registers_base) / address_map::block_bytes;
  const RegisterSlot slot = slot_of(window, local % address_map::block_bytes);
  if (slot.description == nullptr) return std::nullopt;
  RegisterPlace place{address_map::gpu_of(address), register_blocks()[window], slot.description, slot.element};
  place.address = address_of(place, window);
  return place;
}

std::string name_of(const RegisterPlace& place) {
  const std::string name = fmt::format("gpu{}.{}.{}", place.gpu, place.block->name, name_in_block(place));
  return place.field == nullptr ? name : fmt::format("{}.{}", name, place.field->name);
}

std::string name_of_address(std::uint64_t address) {
  if (const std::optional<RegisterPlace> place = register_at(address)) {
    const std::uint64_t byte = address - place->address;
    return byte == 0 ? name_of(*place) : fmt::format("{}+{}", name_of(*place), byte);
  }
  const std::uint64_t gpu = address_map::gpu_of(address), local = address_map::local_of(address);
  if (address_map::is_hbm(address)) return fmt::format("gpu{}.memory+{:#x}", gpu, local);
  const std::uint64_t offset = local - address_map::registers_base;
  const std::size_t window = offset / address_map::block_bytes;
  if (local < address_map::registers_base || window >= register_blocks().size())
    return fmt::format("gpu{}+{:#x}", gpu, local);
  return fmt::format("gpu{}.{}+{:#x}", gpu, register_blocks()[window]->name, offset % address_map::block_bytes);
}

}  // namespace t3vp
