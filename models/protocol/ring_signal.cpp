#include "protocol/ring_signal.h"

#include <fmt/format.h>

#include "protocol/data_protocol.h"

namespace t3vp {
namespace {

constexpr const char* names[RingSignal::property_count] = {
    "collective", "m",          "n",   "ldo", "tile_rows", "tile_columns", "element",
    "gpus",       "workgroups", "gpu", "out", "staging",   "signal_epoch"};
constexpr const char* collectives[] = {"reduce-scatter", "near-memory reduce-scatter", "all-gather"};

std::string text_of(RingSignal::Property property, std::uint64_t value) {
  if (property == RingSignal::collective) return collectives[value];
  if (property == RingSignal::element) return name_of(static_cast<ElementType>(value));
  const bool is_address = property == RingSignal::out || property == RingSignal::staging;
  return fmt::format(is_address ? "{:#x}" : "{}", value);
}

}  // namespace

std::string differences(const RingSignal& found, const RingSignal& expected) {
  std::string text;
  for (std::uint8_t i = 0; i < RingSignal::property_count; ++i) {
    if (found.properties[i] == expected.properties[i]) continue;
    const auto property = static_cast<RingSignal::Property>(i);
    text += fmt::format("{}{} found {}, expected {}", text.empty() ? "" : "; ", names[i],
                        text_of(property, found.properties[i]), text_of(property, expected.properties[i]));
  }
  return text;
}

}  // namespace t3vp
