#include "register_access/trace/vcd_names.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

void define_variable(std::ostream& out, const VcdNames::Variable& variable, const std::string& name) {
  const std::string range = variable.width == 1 ? "" : fmt::format(" [{}:0]", variable.width - 1);
  out << fmt::format("$var wire {} {} {}{} $end\n", variable.width, variable.id, name, range);
}

}  // namespace

/// In the characters that identifiers of the format may have.
std::string VcdNames::next_id() {
  constexpr char first = '!', last = '~';
  constexpr std::uint64_t characters = last - first + 1;
  std::string id;
  for (std::uint64_t rest = ++ids_; rest != 0; rest /= characters) id += static_cast<char>(first + rest % characters);
  return id;
}

const VcdNames::Variables& VcdNames::of_register(const RegisterPlace& place) {
  Register& known = gpus_[place.gpu][place.block->name].registers[place.address];
  if (!known.variables.empty()) return known.variables;
  known.place = place;
  const unsigned width = 8 * place.description->bytes;
  known.variables.push_back({next_id(), width, ~std::uint64_t{0} >> (64 - width), 0});
  for (const FieldDescription& field : place.description->fields)
    known.variables.push_back({next_id(), field.width, field.mask(), field.shift});
  return known.variables;
}

const std::string& VcdNames::event(std::uint64_t gpu, const std::string& block, const std::string& event) {
  std::string& id = gpus_[gpu][block].events[event];
  if (id.empty()) id = next_id();
  return id;
}

void VcdNames::define(std::ostream& out, const Block& block) {
  for (const auto& [name, id] : block.events) out << fmt::format("$var event 1 {} {} $end\n", id, name);
  for (const auto& [address, described] : block.registers) {
    const auto& fields = described.place.description->fields;
    const std::string name = name_in_block(described.place);
    if (fields.empty()) {
      define_variable(out, described.variables.front(), name);
      continue;
    }
    out << fmt::format("$scope module {} $end\n", name);
    define_variable(out, described.variables.front(), "all_fields");
    for (std::size_t i = 0; i < fields.size(); ++i) define_variable(out, described.variables[i + 1], fields[i].name);
    out << "$upscope $end\n";
  }
}

void VcdNames::define(std::ostream& out) const {
  out << "$version t3vp: accesses to registers $end\n$timescale 1 ps $end\n";
  for (const auto& [gpu, blocks] : gpus_) {
    out << fmt::format("$scope module gpu{} $end\n", gpu);
    for (const auto& [name, block] : blocks) {
      out << fmt::format("$scope module {} $end\n", name);
      define(out, block);
      out << "$upscope $end\n";
    }
    out << "$upscope $end\n";
  }
  out << "$enddefinitions $end\n";
}

void VcdNames::dump_unknown(std::ostream& out) const {
  out << "#0\n$dumpvars\n";
  for (const auto& [gpu, blocks] : gpus_)
    for (const auto& [name, block] : blocks)
      for (const auto& [address, described] : block.registers)
        for (const Variable& variable : described.variables)
          out << (variable.width == 1 ? fmt::format("x{}\n", variable.id) : fmt::format("bx {}\n", variable.id));
  out << "$end\n";
}

}  // namespace t3vp
