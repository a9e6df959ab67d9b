#include "run/hardware_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "protocol/units.h"

namespace t3vp {
namespace {

using MonitorLines = std::vector<std::string>;

void append_lines(const MonitorLines& more, MonitorLines& lines) {
  lines.insert(lines.end(), more.begin(), more.end());
}

void append_figures(const Component& block, MonitorLines& lines) {
  block.visit_statistics([&](const std::string& name, const std::string& unit, const std::string& text, double value) {
    lines.push_back(fmt::format("{} {:g} {} ({})", name, value, unit, text));
  });
}

MonitorLines contents_and_figures(const Component& block) {
  MonitorLines lines = block.contents();
  append_figures(block, lines);
  return lines;
}

MonitorLines tracker(const Node& node, std::size_t gpu) {
  return contents_and_figures(node.gpus()[gpu]->memory.tracker);
}

MonitorLines dma(const Node& node, std::size_t gpu) { return contents_and_figures(node.gpus()[gpu]->dma); }

MonitorLines map(const Node& node, std::size_t gpu) {
  MonitorLines lines = node.gpus()[gpu]->output_map.contents();
  append_lines(node.gpus()[gpu]->dma.contents(), lines);
  append_lines(node.gpus()[gpu]->memory.tracker.contents(), lines);
  return lines;
}

MonitorLines queues(const Node& node, std::size_t gpu) {
  MonitorLines lines = node.gpus()[gpu]->compute.contents();
  append_lines(node.gpus()[gpu]->compute.diagnosis(), lines);
  return lines;
}

MonitorLines links(const Node& node, std::size_t gpu) {
  MonitorLines lines;
  for (const auto& link : node.links()) {
    const bool is_here = !link->from().is_switch && link->from().number == gpu;
    const bool comes_here = !link->to().is_switch && link->to().number == gpu;
    if (!is_here && !comes_here) continue;
    const interconnect::LinkTraffic sent = link->sent();
    lines.push_back(
        fmt::format("link from {} to {}: {} bytes of tensors, {} bytes with headers and signals in {} packets",
                    link->from().text(), link->to().text(), sent.payload_bytes, sent.wire_bytes, sent.packets));
    append_lines(link->diagnosis(), lines);
  }
  append_lines(node.gpus()[gpu]->fabric.diagnosis(), lines);
  return lines;
}

MonitorLines time(const Node&, std::size_t) { return {fmt::format("{:.3f} ns simulated", to_ns(now()))}; }

MonitorLines errors(const Node& node, std::size_t gpu) {
  MonitorLines lines;
  for (const processor::ErrorLog::Entry& entry : node.gpus()[gpu]->error_log.records())
    lines.push_back(fmt::format("{:.3f} ns: {}: {} at {:#x}: {}", to_ns(entry.time), entry.block,
                                name_of(static_cast<Status>(entry.record.code)), entry.record.address,
                                entry.record.text));
  const std::uint64_t more = node.gpus()[gpu]->error_log.reported() - lines.size();
  if (more != 0) lines.push_back(fmt::format("and {} more", more));
  return lines;
}

struct MonitorCommand {
  const char* name;
  const char* text;
  MonitorLines (*lines)(const Node& node, std::size_t gpu);
};

constexpr MonitorCommand monitor_commands[] = {
    {"tracker", "mapped chunks, what has been counted of them", tracker},
    {"dma", "dma_map commands and how far they are", dma},
    {"map", "all maps: remote_map, dma_map and what the Tracker counts", map},
    {"queues", "kernel queues and the kernels that run", queues},
    {"links", "what the GPU's links have carried, and what waits", links},
    {"time", "simulated time", time},
    {"errors", "the error log, everything that it has ever got", errors},
};

std::string help() {
  std::string text = "monitor COMMAND [GPU], of the chosen thread's GPU unless told:\n";
  for (const MonitorCommand& command : monitor_commands)
    text += fmt::format("  {:<8} {}\n", command.name, command.text);
  return text;
}

std::string names_of_commands() {
  std::string names = "one of ";
  for (const MonitorCommand& command : monitor_commands) names += std::string(command.name) + ", ";
  return names + "help";
}

std::string mistake(const std::string& where, const std::string& found, const std::string& expected) {
  return fmt::format("{}: found {}, expected {}\n", where, found, expected);
}

/// Nothing unless the text is a number of a GPU.
std::optional<std::size_t> gpu_of(const std::string& text, std::size_t gpus) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number < gpus ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string monitor(const Node& node, std::size_t gpu, const std::string& words) {
  std::istringstream input(words);
  std::string name, number, more;
  input >> name >> number >> more;
  if (name == "help" && !number.empty()) return mistake("monitor help", number, "nothing more");
  if (name.empty() || name == "help") return help();
  const auto command = std::find_if(std::begin(monitor_commands), std::end(monitor_commands),
                                    [&](const MonitorCommand& c) { return c.name == name; });
  if (command == std::end(monitor_commands)) return mistake("monitor", name, names_of_commands());
  if (!more.empty()) return mistake("monitor " + name, more, "no more than a GPU's number");
  if (!number.empty()) {
    const std::optional<std::size_t> told = gpu_of(number, node.gpus().size());
    if (!told) return mistake("monitor " + name, number, fmt::format("a GPU from 0 to {}", node.gpus().size() - 1));
    gpu = *told;
  }
  const MonitorLines lines = command->lines(node, gpu);
  std::string text = fmt::format("GPU {} {}:{}\n", gpu, name, lines.empty() ? " none" : "");
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

}  // namespace t3vp
