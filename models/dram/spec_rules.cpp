#include "dram/spec_rules.h"

#include "dram/address_decoder.h"
#include "dram/bank_mask.h"
#include "dram/command_bus_ranges.h"
#include "dram/dram_ranges.h"
#include "dram/geometry_ranges.h"
#include "dram/request_queue.h"
#include "dram/timing_ranges.h"

namespace t3vp::dram {
namespace {

void check_geometry(const Geometry& g, const RuleCheck& require) {
  const std::uint64_t banks = std::uint64_t{g.pseudo_channels} * g.bank_groups * g.banks_per_group;
  require(banks <= max_banks,
          {"/geometry/banks_per_group", "geometry.banks_per_group", static_cast<double>(g.banks_per_group)},
          "at most " + std::to_string(max_banks) + " banks in a channel");
}

void check_timing(const MemorySpec& spec, const RuleCheck& require) {
  const Timing& t = spec.timing;
  const auto subject = [](const std::string& name, std::uint32_t value) {
    return RuleSubject{"/timing/" + name, "timing." + name, static_cast<double>(value)};
  };
  const auto at_least = [&](const char* name, std::uint32_t value, std::uint64_t least, const std::string& what) {
    require(value >= least, subject(name, value), "at least " + std::to_string(least) + " (" + what + ")");
  };
  at_least("RAS", t.RAS, t.RCDRD, "RCDRD");
  at_least("RC", t.RC, std::uint64_t{t.RAS} + t.RP, "RAS + RP");
  at_least("RRDL", t.RRDL, t.RRDS, "RRDS");
  at_least("CCDS", t.CCDS, t.BURST, "BURST");
  at_least("CCDL", t.CCDL, t.CCDS, "CCDS");
  at_least("CCDWL", t.CCDWL, t.CCDL, "CCDL");
  at_least("WTRL", t.WTRL, t.WTRS, "WTRS");
  require(t.FAW == 0 || t.FAW >= t.RRDS, subject("FAW", t.FAW), "0 or at least RRDS");
  if (!spec.refresh) return;
  at_least("RFC", t.RFC, 1, "for refresh");
  at_least("REFI", t.REFI, std::uint64_t{t.RFC} + t.RC, "RFC + RC");
}

}  // namespace

void check_rules(const MemorySpec& spec, const RuleCheck& require) {
  check_geometry(spec.geometry, require);
  check_timing(spec, require);
  const std::uint32_t most = most_queue_entries / (spec.has_split_queues() ? 2 : 1);
  require(spec.queue_depth <= most, {"/queue_depth", "queue_depth", static_cast<double>(spec.queue_depth)},
          "at most " + std::to_string(most) + (spec.has_split_queues() ? " in each of the two queues" : ""));
}

void check_parameters(const ParameterCheck& check, const MemorySpec& spec) {
  check_parameters(check, static_cast<const DramParameters&>(spec));
  check_parameters(check, static_cast<const CommandBusParameters&>(spec));
  check_parameters(check.below("geometry"), spec.geometry);
  check_parameters(check.below("timing"), spec.timing);
  check_rules(spec, rules_of(check));
  check.require(spec.write_drain_to < spec.write_drain_from, "write_drain_to", spec.write_drain_to,
                "less than write_drain_from");
  try {
    const AddressDecoder decoder(spec);
  } catch (const std::invalid_argument& error) {
    check.require(false, "address_map", spec.address_map, std::string("a map of the geometry (") + error.what() + ")");
  }
}

}  // namespace t3vp::dram
