#include <fmt/format.h>

#include <optional>

#include "register_access/names/register_names.h"
#include "register_access/trace/register_trace.h"

namespace t3vp {
namespace {

/// "gpu0.dma.command.action = none -> add", or "= add" where nothing changes.
std::string change_of(const RegisterPlace& place, std::uint64_t before, std::uint64_t after) {
  const std::string old = text_of_value(place, before), text = text_of_value(place, after);
  return old == text ? fmt::format("{} = {}", name_of(place), text)
                     : fmt::format("{} = {} -> {}", name_of(place), old, text);
}

/// Returns the fields of a register that have any of these bits.
std::string changes_of(RegisterPlace place, const RegisterAccess& access, std::uint64_t bits) {
  if (place.description->fields.empty()) return change_of(place, access.before, access.after);
  std::string changes;
  for (const FieldDescription& field : place.description->fields) {
    if ((bits & field.mask()) == 0) continue;
    place.field = &field;
    changes += fmt::format("{}{}", changes.empty() ? "" : ", ", change_of(place, access.before, access.after));
  }
  return changes;
}

/// All that is read; of a write what it changes and carries, or all when that is nothing.
std::string changes_of(const RegisterPlace& place, const RegisterAccess& access) {
  const std::uint64_t told = (access.before ^ access.after) | access.value;
  return changes_of(place, access, access.writes && (told & place.mask()) != 0 ? told : ~std::uint64_t{0});
}

/// Returns the half of a 64-bit register for an access of 32 bits. The low half only announces a write, or fetches the
/// high half for later.
std::string half_of(const RegisterPlace& place, const RegisterAccess& access) {
  const bool is_low = access.address == place.address;
  if (access.writes && is_low) return name_of(place) + ", low half, held";
  const std::string of_all = changes_of(place, access);
  return access.writes ? of_all : fmt::format("{}, {} half", of_all, is_low ? "low" : "high");
}

std::string what(const RegisterAccess& access) {
  const std::optional<RegisterPlace> place = register_at(access.address);
  if (!place || access.is_refused) return name_of_address(access.address);
  if (access.bytes < place->description->bytes) return half_of(*place, access);
  return changes_of(*place, access);
}

class TextSink : public RegisterSink {
 public:
  explicit TextSink(std::ostream& out) : out_(out) {}

  void write(const TracedAccess& traced) override {
    const RegisterAccess& access = traced.access;
    const std::string value = access.writes       ? fmt::format("writes {:#x}", access.value)
                              : access.is_refused ? std::string("reads")
                                                  : fmt::format("reads {:#x}", access.value);
    const std::string end = access.is_refused ? " refused: " + traced.reason : access.is_sent ? ", sent" : "";
    out_ << fmt::format("{:.3f} ns {} {}: {}{}\n", to_ns(access.time), traced.who, value, what(access), end);
  }

 private:
  std::ostream& out_;
};

}  // namespace

std::unique_ptr<RegisterSink> text_sink(std::ostream& out) { return std::make_unique<TextSink>(out); }

}  // namespace t3vp
