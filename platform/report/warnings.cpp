#include "report/warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/erase.hpp>
#include <map>
#include <utility>

#include "report/phases.h"

namespace t3vp {
namespace {

using nlohmann::ordered_json;

constexpr double least_stall = 0.1;        // of the total
constexpr double least_queueing = 0.05;    // of the total, where links are
constexpr double most_utilization = 0.67;  // busy at most
constexpr double least_aged = 0.1;         // of the communication stream's accesses
constexpr double least_spread = 0.01;      // of the median

void warn_of_spills(const ordered_json& report, std::vector<Warning>& list) {
  const ordered_json& tracker = report.at("tracker");
  const double spills = tracker.at("spills").get<double>(), waited = tracker.at("trigger_wait_ns").get<double>();
  if (spills == 0) return;
  list.push_back({"tracker.spills",
                  fmt::format("the Tracker moved {} entries to memory, and triggers waited {:.2f} us for them in sum: "
                              "more tracker.ways or tracker.sets, or tracker.index hash, keep them in its table",
                              spills, waited / 1000)});
}

std::string name_of(const ordered_json& end) { return end.is_string() ? end.get<std::string>() : "GPU " + end.dump(); }

std::string text_of_link(const ordered_json& link) {
  return "the link from " + name_of(link.at("from")) + " to " + name_of(link.at("to"));
}

/// The link with the largest figure, null without links.
const ordered_json* worst_link(const ordered_json& report, const char* figure) {
  const ordered_json* worst = nullptr;
  for (const ordered_json& link : report.at("links"))
    if (worst == nullptr || worst->at(figure).get<double>() < link.at(figure).get<double>()) worst = &link;
  return worst;
}

/// The receiver decides, not the link: its memory is too slow, or several senders meet there.
void warn_of_stalls(const ordered_json& report, double total, std::vector<Warning>& list) {
  const ordered_json* const link = worst_link(report, "credit_stall_ns");
  if (link == nullptr) return;
  const double share = link->at("credit_stall_ns").get<double>() / total;
  if (share < least_stall) return;
  list.push_back({"links.credit_stall_ns",
                  fmt::format("{} stood still for {:.0f}% of the total because its receiver had no room: its "
                              "links.receive_buffer_KiB is less than bandwidth x round trip, its memory is slower "
                              "than the link, or several senders meet there",
                              text_of_link(*link), 100 * share)});
}

bool has_fused_phase(const ordered_json& report) {
  const ordered_json& times = report.at("time_ns");
  return times.contains(phases::fused) && times.at(phases::fused).is_number();
}

/// Tiles of a fused GEMM end together, and their stores meet at a link that has nothing to do before and after
/// (incast). A slower GPU or memory spreads them. Where the receiver has no room they wait for that.
void warn_of_bursts(const ordered_json& report, double total, std::vector<Warning>& list) {
  const ordered_json* const link = worst_link(report, "queueing_ns");
  if (link == nullptr || !has_fused_phase(report)) return;
  if (worst_link(report, "credit_stall_ns")->at("credit_stall_ns").get<double>() >= least_stall * total) return;
  const double waited = link->at("queueing_ns").get<double>() / total, busy = link->at("utilization").get<double>();
  if (waited < least_queueing || busy > most_utilization) return;
  list.push_back({"links.queueing_ns",
                  fmt::format("stores come in bursts: one waits {:.1f}% of the total on average for {}, which is busy "
                              "for {:.0f}%. What spreads them, even slower memory or fewer CUs, may be faster",
                              100 * waited, text_of_link(*link), 100 * busy)});
}

/// MCA's limit lets in too little, so that its aging decides who goes first.
void warn_of_aging(const ordered_json& report, std::vector<Warning>& list) {
  std::map<std::string, double> statistics;
  for (const ordered_json& s : report.at("statistics"))
    statistics.emplace(s.at("name").get<std::string>(), s.at("value").get<double>());
  std::pair<double, std::string> worst{0, ""};
  for (const auto& [name, aged] : statistics)
    if (const std::string gpu = boost::algorithm::erase_last_copy(name, ".dram.aged"); gpu != name && aged > 0)
      worst = std::max(worst, {aged / statistics.at(gpu + ".dram.communication"), name});
  if (worst.first < least_aged) return;
  list.push_back({worst.second, fmt::format("MCA's aging, not its limit, let in {:.0f}% of the communication stream: "
                                            "another memory.aging_ns may be faster",
                                            100 * worst.first)});
}

void warn_of_spread(const ordered_json& report, std::vector<Warning>& list) {
  const ordered_json::json_pointer at("/replicates/time_ns/total/spread");
  if (!report.contains(at) || report.at(at).get<double>() <= least_spread) return;
  list.push_back({"replicates.time_ns.total.spread",
                  fmt::format("the total varies by {:.1f}% over replicates: smaller differences say nothing",
                              100 * report.at(at).get<double>())});
}

}  // namespace

std::vector<Warning> warnings_of(const ordered_json& report) {
  std::vector<Warning> list;
  const double total = report.at("time_ns").at("total").get<double>();
  if (report.contains("diagnosis") || total == 0) return list;
  warn_of_spills(report, list);
  warn_of_stalls(report, total, list);
  warn_of_bursts(report, total, list);
  warn_of_aging(report, list);
  warn_of_spread(report, list);
  return list;
}

void set_warnings(ordered_json& report) {
  report.erase("warnings");
  for (const Warning& warning : warnings_of(report))
    report["warnings"].push_back({{"metric", warning.metric}, {"text", warning.text}});
}

}  // namespace t3vp
