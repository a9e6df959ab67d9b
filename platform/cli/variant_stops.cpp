#include "cli/variant_stops.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "guests/guest_page.h"
#include "guests/watched_process.h"
#include "io/input_file.h"
#include "report/report.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

constexpr const char* log_name = "log.txt";

std::string last_line_of(const fs::path& log) {
  if (!input_fault(log).empty()) return "no log";
  std::string text = read_input(log, "log");
  text.erase(text.find_last_not_of('\n') + 1);
  return text.empty() ? "an empty log, as on a full disk" : text.substr(text.rfind('\n') + 1);
}

/// An injected fault explains the other reasons, and comes behind them.
std::string reason_of(const nlohmann::json& diagnosis) {
  for (const nlohmann::json& line : diagnosis)
    if (const auto text = line.get<std::string>(); text.rfind("fault ", 0) == 0) return text;
  return diagnosis.at(0).get<std::string>();
}

double total_us(const nlohmann::json& report) { return report.at("time_ns").at("total").get<double>() / 1000; }

}  // namespace

VariantStops::VariantStops(const std::vector<Variant>& variants, double at_us, unsigned jobs, fs::path out)
    : variants_(variants),
      at_us_(at_us),
      next_(static_cast<Picoseconds>(std::llround(at_us * 1e6))),
      jobs_(jobs),
      out_(std::move(out)) {}

void VariantStops::attach(RunOptions& options, ProgressLine& line, bool trace) {
  options_ = &options;
  line_ = &line;
  traces_ = trace;
}

fs::path VariantStops::folder_of(const Variant& variant) const { return out_ / "variants" / variant.name; }

/// Returns true in the variant.
bool VariantStops::start(std::size_t number, StoppedRun& run) {
  const Variant& variant = variants_[number];
  const fs::path folder = folder_of(variant);
  prepare_folder(folder);
  const pid_t process = start_watched_copy(folder / log_name);
  if (process != 0) {
    running_.emplace(process, number);
    return false;
  }
  variant_ = &variant;
  running_.clear();
  line_->look_at_terminal();
  options_->out = folder;
  if (variant.has_changes) run.change(variant.configuration);
  if (traces_) run.record_timeline(folder / "trace.json", options_->trace_window);
  return true;
}

void VariantStops::take_ended() {
  for (auto child = running_.begin(); child != running_.end();) {
    int status = 0;
    if (waitpid(child->first, &status, WNOHANG) == 0) {
      ++child;
      continue;
    }
    exit_codes_[child->second] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    child = running_.erase(child);
  }
}

void VariantStops::stop(StoppedRun& run) {
  next_ = never;
  std::size_t begun = 0;
  while (exit_codes_.size() < variants_.size()) {
    while (begun < variants_.size() && running_.size() < jobs_)
      if (start(begun++, run)) return;
    GuestPage& page = guest_page();  // the limits are the variants' from now on
    page.firmware_s = 0;
    page.wall_s = 0;
    const std::size_t ended = exit_codes_.size();
    line_->show(static_cast<double>(ended) / static_cast<double>(variants_.size()),
                fmt::format("{} of {} variants", ended, variants_.size()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    take_ended();
  }
  throw VariantsEnded{
      std::any_of(exit_codes_.begin(), exit_codes_.end(), [](const auto& code) { return code.second != 0; })};
}

void VariantStops::add_to(nlohmann::ordered_json& report) const {
  if (variant_ != nullptr && variant_->has_changes && at_us_ > 0)
    report["forked"] = {{"variant", variant_->name}, {"at_us", at_us_}};
}

std::string VariantStops::table() const {
  std::size_t width = 7;
  for (const Variant& variant : variants_) width = std::max(width, variant.name.size());
  std::string text = fmt::format("{} variants from {} us of simulated time on, in {}\n", variants_.size(), at_us_,
                                 (out_ / "variants").string());
  std::optional<double> first;  // of those that passed
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    const fs::path folder = folder_of(variants_[i]), file = folder / "report.json";
    const nlohmann::json report = fs::exists(file) ? read_report(file) : nlohmann::json();
    text += fmt::format("  {:<{}}  ", variants_[i].name, width);
    if (!report.is_null() && !report.contains("diagnosis") && exit_codes_.at(i) == 0) {
      const double total = total_us(report);
      text += fmt::format("{:12.3f} us", total);
      if (first) text += fmt::format("  {:+.2f}%", 100 * (total / *first - 1));
      if (!first) first = total;
    } else {
      text += fmt::format(
          "failed: {} (see {})",
          report.contains("diagnosis") ? reason_of(report.at("diagnosis")) : last_line_of(folder / log_name),
          (folder / log_name).string());
    }
    text += "\n";
  }
  return text;
}

void add_variants(Outputs& outputs, const std::vector<Variant>& variants, const fs::path& out) {
  for (const Variant& variant : variants) {
    const fs::path folder = out / "variants" / variant.name;
    outputs.files.push_back(folder / log_name);
    outputs.result_folders.push_back(folder);
  }
}

void remove_variants(const fs::path& out) {
  std::error_code kept;  // what is not a variant's own stays, and its folder with it
  if (!fs::is_directory(out / "variants", kept)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "variants")) {
    if (!entry.is_directory()) continue;
    remove_results(entry.path());
    fs::remove(entry.path() / log_name, kept);
    fs::remove(entry.path(), kept);
  }
  fs::remove(out / "variants", kept);
}

}  // namespace t3vp
