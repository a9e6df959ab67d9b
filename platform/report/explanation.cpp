#include "report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "protocol/time_parts.h"
#include "report/metric_names.h"
#include "report/result_table.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr std::size_t parts_shown = 5, phases_shown = 3;

/// What a part is for its reader: the bound that removing it would remove as well, and the keys that shorten it. The
/// link bound is that of NICs too.
struct PartText {
  const char* bound;  ///< "compute", "link" or "dram"; empty: none
  const char* keys;
};

constexpr PartText texts[part_count] = {
    {"compute", "compute.matrix_flops_per_cycle, compute.compute_units"},
    {"tiles", "workload.gemm.tile"},
    {"tiles", "workload.gemm.tile, compute.compute_units"},
    {"dram", "memory.channels, cache.capacity_MiB"},
    {"", "memory_controller.arbitration, memory.dram.write_drain_from"},
    {"", "memory.interleave_bytes, memory.dram.geometry"},
    {"", "memory.dram.timing.CCDWL"},
    {"", "cache.latency_ns, memory.path_latency_ns, compute.prefetch_slabs, rows_in_flight"},
    {"", "compute.port_bytes_per_cycle, cache.bank_bytes_per_cycle"},
    {"link", "links.bandwidth_GBps"},
    {"", "links.link_latency_ns"},
    {"", "links.receive_buffer_KiB"},
    {"link", "nic.wire_GBps, nic.messages_per_us, nic.io_GBps"},
    {"", "compute.launch_latency_ns, processor.register_access_ns, host.post_ns"},
    {"", "processor.interrupt_entry_ns, compute.poll_ns"},
    {"", "tracker.ways, tracker.sets"},
    {"", "dma.latency_ns, dma.bytes_in_flight"},
};

struct Limit {
  double ns;
  std::string name;
};

/// The largest lower bound that stays without the part.
Limit bound_without(const json& report, std::size_t part) {
  const json& bounds = report.at("bounds");
  const std::string removed = texts[part].bound;
  Limit most{0, ""};
  const auto raise = [&](const char* key, const char* name) {
    if (bounds.at(key).get<double>() > most.ns) most = {bounds.at(key).get<double>(), name};
  };
  if (removed != "compute") raise("compute_ns", "compute bound");
  if (removed != "compute" && removed != "tiles") raise("compute_quantized_ns", "bound of whole tiles");
  if (removed != "link") raise("link_ns", "link bound");
  if (removed != "dram") raise("dram_ns", "DRAM bound");
  return most;
}

double total_of(const json& report) { return report.at("time_ns").at("total").get<double>(); }

const json& parts_of(const json& report, const std::string& phase) { return report.at("bounded_by").at(phase); }

std::string words(const std::string& part) {
  std::string text = words_of_key(part);
  if (text.rfind("dram", 0) == 0) text.replace(0, 4, "DRAM");
  return text == "nic" ? "NIC" : text == "dma" ? "DMA" : text == "tracker" ? "Tracker" : text;
}

std::string us(double ns) { return fmt::format("{:.2f}", ns / 1000); }

std::string head(const json& report) {
  return fmt::format("{}: total {} us\n", run_title(nlohmann::ordered_json(report)), us(total_of(report)));
}

std::string row_of(const ExplainedPart& part, double total) {
  const double left = total - part.gain_ns;
  const std::string speedup = left > 0 ? fmt::format("{:.2f}x", total / left) : "no end";
  return fmt::format("  {:<20}{:>12}{:>7.1f}%{:>14}{:>8}  {}\n", words(part.name), us(part.ns), 100 * part.ns / total,
                     us(part.gain_ns), speedup, part.limit);
}

/// "all-gather: link serialization 99%; ...", of the longest phases.
std::string phases_row(const json& report) {
  std::vector<std::pair<double, std::string>> phases;
  for (const auto& [phase, parts] : report.at("bounded_by").items()) {
    const json time = report.at("time_ns").value(phase, json());
    if (phase == "total" || !time.is_number() || time.get<double>() <= 0) continue;
    std::pair<double, std::string> most{-1, ""};
    for (const auto& [name, ns] : parts.items()) most = std::max(most, {ns.get<double>(), name});
    phases.emplace_back(time.get<double>(), fmt::format("{} {} {:.0f}%", words_of_key(phase), words(most.second),
                                                        100 * most.first / time.get<double>()));
  }
  std::stable_sort(phases.begin(), phases.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(phases.size(), phases_shown); ++i)
    text += (i == 0 ? "" : "; ") + phases[i].second;
  return fmt::format("phases: {}\n", text.empty() ? "none" : text);
}

std::size_t number_of(const std::string& part) {
  const auto* const found = std::find(std::begin(part_names), std::end(part_names), part);
  return static_cast<std::size_t>(found - std::begin(part_names));
}

struct PartChange {
  std::string name;
  double first = 0, second = 0;
  double change() const { return second - first; }
};

std::string row_of(const PartChange& part) {
  return fmt::format("  {:<20}{:>14}{:>14}{:>+14.2f}\n", part.name, us(part.first), us(part.second),
                     part.change() / 1000);
}

}  // namespace

bool is_explained(const json& report) {
  return report.contains("bounded_by") && report.at("bounded_by").contains("total") && total_of(report) > 0;
}

std::vector<ExplainedPart> explained_parts(const json& report) {
  const double total = total_of(report);
  std::vector<ExplainedPart> parts;
  for (std::size_t i = 0; i < part_count; ++i) {
    ExplainedPart part{part_names[i], parts_of(report, "total").at(part_names[i]).get<double>(), 0, "rest of the path"};
    const Limit bound = bound_without(report, i);
    part.gain_ns = std::max(0.0, std::min(part.ns, total - bound.ns));
    if (total - bound.ns < part.ns) part.limit = bound.name;
    parts.push_back(std::move(part));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const ExplainedPart& a, const ExplainedPart& b) { return a.ns > b.ns; });
  return parts;
}

std::string explanation(const json& report) {
  const double total = total_of(report);
  const std::vector<ExplainedPart> parts = explained_parts(report);
  std::string text = head(report) + fmt::format("  {:<20}{:>12}{:>8}{:>14}{:>8}  {}\n", "critical path", "us", "share",
                                                "gain, at most", "up to", "limited by");
  double others = 0;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i < parts_shown)
      text += row_of(parts[i], total);
    else
      others += parts[i].ns;
  text += fmt::format("  {:<20}{:>12}{:>7.1f}%\n", "other parts", us(others), 100 * others / total);
  text += phases_row(report);
  return text +
         fmt::format("change first: {} ({})\n", texts[number_of(parts.front().name)].keys, words(parts.front().name));
}

std::string explanation(const json& first, const json& second) {
  std::vector<PartChange> changes;
  for (const char* const name : part_names)
    changes.push_back({words(name), parts_of(first, "total").at(name).get<double>(),
                       parts_of(second, "total").at(name).get<double>()});
  std::stable_sort(changes.begin(), changes.end(), [](const PartChange& a, const PartChange& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  std::string text = head(first) + head(second) +
                     fmt::format("  {:<20}{:>14}{:>14}{:>14}\n", "critical path, us", "first", "second", "change");
  PartChange others{"other parts"}, sum{"total"};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    sum.first += changes[i].first;
    sum.second += changes[i].second;
    if (i < parts_shown) {
      text += row_of(changes[i]);
      continue;
    }
    others.first += changes[i].first;
    others.second += changes[i].second;
  }
  return text + row_of(others) + row_of(sum);
}

}  // namespace t3vp
