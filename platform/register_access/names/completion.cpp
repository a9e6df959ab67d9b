#include <fmt/format.h>

#include "register_access/names/register_names.h"

namespace t3vp {
namespace {

/// Collects what begins like a text.
class Candidates {
 public:
  explicit Candidates(std::string_view beginning) : beginning_(beginning) {}

  void offer(std::string name) {
    if (std::string_view(name).substr(0, beginning_.size()) == beginning_) names_.push_back(std::move(name));
  }
  std::vector<std::string> names() && { return std::move(names_); }

 private:
  std::string_view beginning_;
  std::vector<std::string> names_;
};

void offer_registers(Candidates& candidates, const std::string& prefix, const BlockDescription& block) {
  for (const RegisterDescription& d : block.registers) {
    candidates.offer(fmt::format("{}{}{}", prefix, d.name, d.count == 1 ? "" : "["));
    if (d.count == 1)
      for (const FieldDescription& field : d.fields)
        candidates.offer(fmt::format("{}{}.{}", prefix, d.name, field.name));
  }
}

void offer_fields(Candidates& candidates, const std::string& element, const BlockDescription& block) {
  try {
    const RegisterPlace place = find_register(element);
    if (place.block != &block) return;
    candidates.offer(element);
    for (const FieldDescription& field : place.description->fields)
      candidates.offer(fmt::format("{}.{}", element, field.name));
  } catch (const NameError&) {
  }
}

}  // namespace

std::vector<std::string> completions_of(std::string_view beginning, std::uint64_t gpus) {
  Candidates candidates(beginning);
  const std::size_t first_dot = beginning.find('.');
  if (first_dot == std::string_view::npos) {
    for (std::uint64_t gpu = 0; gpu < gpus; ++gpu) candidates.offer(fmt::format("gpu{}.", gpu));
    return std::move(candidates).names();
  }
  const std::size_t second_dot = beginning.find('.', first_dot + 1);
  const std::string gpu(beginning.substr(0, first_dot + 1));
  for (const BlockDescription* block : register_blocks()) {
    const std::string prefix = gpu + block->name + '.';
    if (second_dot == std::string_view::npos) {
      candidates.offer(prefix);
      continue;
    }
    if (beginning.substr(0, second_dot + 1) != prefix) continue;
    offer_registers(candidates, prefix, *block);
    const std::size_t bracket = beginning.find(']', second_dot);
    if (bracket != std::string_view::npos)
      offer_fields(candidates, std::string(beginning.substr(0, bracket + 1)), *block);
  }
  return std::move(candidates).names();
}

}  // namespace t3vp
