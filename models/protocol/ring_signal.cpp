#include "protocol/ring_signal.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

bool same(const RingSignal::Property& one, const RingSignal::Property& other) {
  return one.value == other.value && one.name == other.name;
}

std::string text_of(const RingSignal::Property& property) {
  if (!property.text.empty()) return property.text;
  return fmt::format(property.is_address ? "{:#x}" : "{}", property.value);
}

}  // namespace

bool agree(const RingSignal& one, const RingSignal& other) {
  return one.receiver == other.receiver && one.gpus == other.gpus && one.workgroups == other.workgroups &&
         std::equal(one.properties.begin(), one.properties.end(), other.properties.begin(), other.properties.end(),
                    same);
}

std::string differences(const RingSignal& found, const RingSignal& expected) {
  std::string text;
  const auto tell = [&text](const std::string& name, const std::string& is, const std::string& should) {
    text += fmt::format("{}{} found {}, expected {}", text.empty() ? "" : "; ", name, is, should);
  };
  if (found.gpus != expected.gpus) tell("gpus", std::to_string(found.gpus), std::to_string(expected.gpus));
  if (found.receiver != expected.receiver)
    tell("gpu", std::to_string(found.receiver), std::to_string(expected.receiver));
  if (found.workgroups != expected.workgroups)
    tell("workgroups", std::to_string(found.workgroups), std::to_string(expected.workgroups));
  const std::size_t both = std::min(found.properties.size(), expected.properties.size());
  for (std::size_t i = 0; i < both; ++i) {
    const RingSignal::Property &is = found.properties[i], &should = expected.properties[i];
    if (is.name != should.name)
      tell("a property", is.name, should.name);
    else if (is.value != should.value)
      tell(is.name, text_of(is), text_of(should));
  }
  if (found.properties.size() != expected.properties.size())
    tell("properties", std::to_string(found.properties.size()), std::to_string(expected.properties.size()));
  return text;
}

}  // namespace t3vp
