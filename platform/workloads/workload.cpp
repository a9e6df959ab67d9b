#include "workloads/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "workloads/description_of.h"

namespace t3vp {

const char* name_of(Operands operands) { return operands == Operands::exact ? "exact" : "random"; }

const char* name_of(McaScope scope) { return scope == McaScope::always ? "always" : "reduce-scatter"; }

void FunctionalCheck::note_error(double error) {
  // No comparison with what is no number is true.
  if (!(error <= max_abs_error) && !std::isnan(max_abs_error)) max_abs_error = error;
}

void FunctionalCheck::note(const Mismatch& mismatch) {
  ++mismatches;
  note_error(std::abs(mismatch.found - mismatch.expected));
  if (!first) first = mismatch;
}

void LowerBounds::raise(const LowerBounds& other) {
  compute_ns = std::max(compute_ns, other.compute_ns);
  compute_quantized_ns = std::max(compute_quantized_ns, other.compute_quantized_ns);
  dram_ns = std::max(dram_ns, other.dram_ns);
}

void Workload::name(const Document& run, const std::string& otherwise) {
  label_ = run.content.at("workload").value("label", otherwise);
}

bool Workload::separates_communication(const std::string&) const { return false; }

bool Workload::runs_apart(const std::string& method) const {
  return method == "ideal-overlap" || method == "ideal-rs-nmc";
}

namespace {

/// A program of the user's own without a workload has the methods of the usual one.
const WorkloadDescription& description_or_usual(const std::string& room) {
  if (!room.empty()) return description_of(room);
  return *std::find_if(workload_descriptions.begin(), workload_descriptions.end(),
                       [](const WorkloadDescription& d) { return d.given_by.empty(); });
}

}  // namespace

std::string Workload::usual_method() const { return std::string(description_or_usual(room_).methods.front().name); }

std::string Workload::usual_program(const std::string& method) const {
  const std::vector<MethodDescription>& methods = description_or_usual(room_).methods;
  for (const MethodDescription& each : methods)
    if (each.name == method) return std::string(each.program);
  return std::string(methods.front().program);
}

std::uint32_t Workload::gpus(const Document& run, bool) const {
  if (!run.content.contains("gpus")) run.reject("/gpus", "an integer from 1 to 256, since there is no workload");
  return run.content.at("gpus").get<std::uint32_t>();
}

Operands Workload::operands(const Document& run) const {
  return run.content.value("operands", "exact") == "random" ? Operands::random : Operands::exact;
}

LargestStore Workload::largest_store(const RunSettings& settings) const {
  const compute::ComputeParameters& p = settings.system.compute;
  const std::uint64_t tile = p.tile_rows / p.wavefronts * p.tile_columns * bytes_of(element());
  return {std::max<std::uint64_t>(settings.system.kernels.ring.block_bytes, tile), "a wavefront tile or a block"};
}

namespace {

/// "embedding, experts and gemv have it": the rooms that have a method.
std::string rooms_with(const std::string& method) {
  std::vector<std::string_view> rooms;
  for (const WorkloadDescription& room : workload_descriptions)
    for (const MethodDescription& each : room.methods)
      if (each.name == method) rooms.push_back(room.name);
  return fmt::format("{} {} it", fmt::join(rooms, ", "), rooms.size() == 1 ? "has" : "have");
}

}  // namespace

void Workload::check_gemm_method(const Document& run, const RunSettings& settings) const {
  std::vector<std::string_view> names;
  for (const MethodDescription& method : description_or_usual({}).methods) names.push_back(method.name);
  if (std::find(names.begin(), names.end(), settings.method) == names.end())
    run.reject("/method", fmt::format("one of {}: {}", fmt::join(names, ", "), rooms_with(settings.method)));
  if (runs_apart(settings.method) && settings.built_in_program != "isolated")
    run.reject("/program", fmt::format("isolated, or nothing, with method {}", settings.method));
}

void Workload::check(const Document& run, const Document&, const RunSettings& settings) const {
  check_gemm_method(run, settings);
  if (settings.mirror) run.reject("/simulate", "all, since there is no workload whose chunks a mirror could send back");
}

}  // namespace t3vp
