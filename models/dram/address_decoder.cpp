#include "dram/address_decoder.h"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace t3vp::dram {
namespace {

using Run = std::pair<std::string, std::uint32_t>;  // field, bits
using Widths = std::map<std::string, std::uint32_t>;

std::uint32_t log2_of(std::uint32_t value, const char* what) {
  if (value == 0 || (value & (value - 1)) != 0)
    throw std::invalid_argument(std::string(what) + " must be a power of two, not " + std::to_string(value));
  std::uint32_t bits = 0;
  while ((std::uint32_t{1} << bits) < value) ++bits;
  return bits;
}

Widths widths_of(const Geometry& g) {
  if (g.access_bytes == 0 || g.row_bytes < g.access_bytes)
    throw std::invalid_argument("geometry.row_bytes must hold at least one access");
  return {{"byte", log2_of(g.access_bytes, "geometry.access_bytes")},
          {"pseudo_channel", log2_of(g.pseudo_channels, "geometry.pseudo_channels")},
          {"bank_group", log2_of(g.bank_groups, "geometry.bank_groups")},
          {"bank", log2_of(g.banks_per_group, "geometry.banks_per_group")},
          {"column", log2_of(g.row_bytes / g.access_bytes, "geometry.row_bytes / geometry.access_bytes")},
          {"row", log2_of(g.rows, "geometry.rows")}};
}

Run parse_run(const std::string& text) {
  const auto colon = text.find(':');
  const std::string bits = colon == std::string::npos ? "1" : text.substr(colon + 1);
  if (bits.empty() || bits.size() > 2 || bits.find_first_not_of("0123456789") != std::string::npos)
    throw std::invalid_argument("address map: \"" + text + "\" should read like \"column:3\"");
  return {text.substr(0, colon), static_cast<std::uint32_t>(std::stoul(bits))};
}

/// The low bank bits of GPGPU-Sim's map R..R BBB CCC B CCC SSSSS are the bank group.
std::vector<Run> accel_map(const Widths& width) {
  const std::uint32_t banks = width.at("bank_group") + width.at("bank");
  if (width.at("column") < 4 || banks < 2 || width.at("bank_group") == 0)
    throw std::invalid_argument("address map accel needs at least 16 columns, 2 bank groups and 4 banks");
  return {{"byte", width.at("byte")},
          {"pseudo_channel", width.at("pseudo_channel")},
          {"column", 3},
          {"bank_group", 1},
          {"column", width.at("column") - 3},
          {"bank_group", width.at("bank_group") - 1},
          {"bank", width.at("bank")},
          {"row", width.at("row")}};
}

std::vector<Run> named_order(const Widths& width, std::initializer_list<const char*> fields) {
  std::vector<Run> runs;
  for (const char* field : fields) runs.emplace_back(field, width.at(field));
  return runs;
}

std::vector<Run> runs_of(const MemorySpec& spec, const Widths& width) {
  if (!spec.address_bits.empty()) {
    std::vector<Run> runs;
    for (const std::string& text : spec.address_bits) runs.push_back(parse_run(text));
    return runs;
  }
  if (spec.address_map == "accel") return accel_map(width);
  if (spec.address_map == "bgint")
    return named_order(width, {"byte", "pseudo_channel", "bank_group", "column", "bank", "row"});
  if (spec.address_map == "rocol")
    return named_order(width, {"byte", "pseudo_channel", "column", "bank_group", "bank", "row"});
  throw std::invalid_argument("\"" + spec.address_map + "\" is not bgint, accel, rocol or a list of bits");
}

void check_widths(const std::vector<Run>& runs, const Widths& expected) {
  Widths found;
  for (const auto& [field, bits] : runs) {
    if (expected.count(field) == 0)
      throw std::invalid_argument("address map: \"" + field +
                                  "\" is not byte, pseudo_channel, bank_group, bank, column or row");
    found[field] += bits;
  }
  for (const auto& [field, bits] : expected)
    if (found[field] != bits)
      throw std::invalid_argument("address map: " + field + " has " + std::to_string(found[field]) +
                                  " bits, the geometry needs " + std::to_string(bits));
}

}  // namespace

AddressDecoder::AddressDecoder(const MemorySpec& spec) {
  const Widths width = widths_of(spec.geometry);
  const std::vector<Run> runs = runs_of(spec, width);
  check_widths(runs, width);

  Widths next = {{"pseudo_channel", 0},
                 {"bank_group", width.at("pseudo_channel")},
                 {"bank", width.at("pseudo_channel") + width.at("bank_group")}};
  std::uint32_t bit = 0;
  for (const auto& [field, bits] : runs) {
    const Slice slice{bit, next[field], (std::uint64_t{1} << bits) - 1};
    next[field] += bits;
    bit += bits;
    if (bits == 0 || field == "byte") continue;
    append(field == "row" ? row_ : field == "column" ? column_ : bank_, slice);
  }
  append(row_, {bit, next["row"], ~std::uint64_t{0}});
  bank_bits_ = width.at("pseudo_channel") + width.at("bank_group") + width.at("bank");
  hashes_ = spec.bank_hash == BankHash::row && bank_bits_ != 0;
}

/// A slice that continues the one before in address and field lengthens it.
void AddressDecoder::append(Field& field, const Slice& slice) {
  if (field.count > 0) {
    Slice& last = field.slices[field.count - 1];
    const std::uint32_t ahead = slice.from - last.from;
    if (ahead == slice.to - last.to && last.mask == (std::uint64_t{1} << ahead) - 1) {
      last.mask |= slice.mask << ahead;
      return;
    }
  }
  if (field.count == field.slices.size())
    throw std::invalid_argument("address map: a field is cut into more than 8 parts");
  field.slices[field.count++] = slice;
}

}  // namespace t3vp::dram
