#include "node/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "io/software_library.h"
#include "node/node_checks.h"
#include "protocol/checked_parameters.h"
#include "registers/catalogue.h"

namespace t3vp {
namespace {

compute::ComputeParameters compute_of(const GpuParameters& parameters) {
  compute::ComputeParameters compute = parameters.compute;
  compute.memory_bytes = parameters.memory.capacity_bytes;
  compute.kernels = parameters.kernels;
  return compute;
}

const sc_core::sc_module_name& checked_name(const sc_core::sc_module_name& name, const GpuParameters& parameters) {
  check_gpu(ParameterCheck(path_of(name)), parameters);
  return name;
}

std::unique_ptr<processor::Processor> place_processor(std::uint16_t gpu,
                                                      const processor::ProcessorParameters& parameters, Trace* trace) {
  if (parameters.on_core) return std::make_unique<processor::FirmwareCore>("processor", gpu, parameters, trace);
  return std::make_unique<processor::CommandProcessor>("processor", gpu, parameters, trace);
}

template <typename Kind>
Kind& processor_as(processor::Processor& processor, const char* kind) {
  if (auto* const found = dynamic_cast<Kind*>(&processor)) return *found;
  throw std::logic_error(fmt::format("{} is no {}", processor.name(), kind));
}

constexpr auto first_plugged = address_map::Block::plugin_0;
constexpr std::size_t plugged_windows =
    static_cast<std::size_t>(address_map::Block::plugin_3) - static_cast<std::size_t>(first_plugged) + 1;
constexpr const char* a_library = "a library of blocks (node/plugin_block.h)";

const PluginBlockKind& kind_of(const PluggedBlock& block) {
  const auto& table =
      *static_cast<const BlockTable*>(plugin_table(block.library, "t3vp_blocks", block_build(), a_library));
  std::string names;
  for (std::size_t i = 0; i < table.count; ++i) {
    if (block.block == table.kinds[i].name) return table.kinds[i];
    names += (i == 0 ? "" : ", ") + std::string(table.kinds[i].name);
  }
  block.block_at.reject("which the library does not have", "one of " + names);
}

std::unique_ptr<PluginBlock> make_plugged(const PluggedBlock& block, std::uint16_t gpu) {
  const PluginBlockKind& kind = kind_of(block);
  std::string thrown = "something that is no exception";
  try {
    const std::string name = fmt::format("plugin_{}", block.window);
    if (std::unique_ptr<PluginBlock> made = kind.make(name.c_str(), {gpu, block.settings})) return made;
    thrown = "no error, and has made nothing";
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
  }
  block.block_at.reject(fmt::format("which has thrown: {}", thrown), "settings with which the block can be made");
}

/// All objects of a kind below a module, in the order of construction, those within others behind them.
template <typename Kind>
std::vector<Kind*> within(const sc_core::sc_object& module) {
  std::vector<Kind*> found;
  for (sc_core::sc_object* child : module.get_child_objects()) {
    if (auto* one = dynamic_cast<Kind*>(child)) found.push_back(one);
    for (Kind* one : within<Kind>(*child)) found.push_back(one);
  }
  return found;
}

}  // namespace

Gpu::Gpu(const sc_core::sc_module_name& name, const GpuParameters& parameters, const Placement& placement,
         const SimulationOptions& options, const t3_kernel* const* kernels, Trace* trace, races::RaceDetector* races)
    : sc_module(checked_name(name, parameters)),
      placed_processor_(place_processor(placement.gpu, parameters.processor, trace)),
      processor(*placed_processor_),
      bus("bus", placement.gpu, parameters.processor.register_access),
      system("system", placement.gpu, placement.gpus, parameters.memory.capacity_bytes, parameters.processor.reset_ns),
      interrupts("interrupts"),
      error_log("error_log", parameters.processor.error_log_entries),
      compute("compute", compute_of(parameters), kernels, options.functional, placement.gpu, trace),
      output_map("output_map", parameters.output_map, placement.gpu),
      cache("cache", parameters.cache, parameters.memory.path_latency, placement.gpu),
      memory("memory", parameters.memory, parameters.tracker, options.functional, placement.gpu, trace),
      following("following", memory.near_memory, options.functional, placement.gpu),
      dma("dma", parameters.dma, options.functional, placement.gpu, trace),
      signals("signals", placement.gpu),
      fabric("fabric", placement.gpu, parameters.links.header_bytes, placement.neighbours, placement.route,
             placement.receivers),
      probes_(options.has_checkers(), !options.checks.protocol),
      memory_watch_(options.checks.memory, placement.gpu, probes_),
      race_watch_(placement.gpu, races),
      lines_("lines", address_map::line_count, [this](const char* line, std::size_t) {
        return new CausedLine(line, interrupted_by_);  // which sc_vector owns
      }) {
  processor.released_by(interrupted_by_);
  bind_data_path();
  bind_control_path();
  place_nic(parameters, options.functional, placement.gpu, trace);
  place_endpoint(parameters, options.functional, placement.gpu);
  place_power(parameters);
  place_plugged(parameters.plugged, placement.gpu);
  plug_in_blocks(placement.gpu);
  bind_interrupts();
  bind_lines();
  for (OrderTeller* teller : within<OrderTeller>(*this)) teller->tell_order_to(race_watch_.observer());
}

Gpu::~Gpu() = default;

processor::CommandProcessor& Gpu::native() {
  return processor_as<processor::CommandProcessor>(processor, "native command processor");
}

processor::FirmwareCore& Gpu::core() { return processor_as<processor::FirmwareCore>(processor, "RISC-V core"); }

/// It is called `nic` in either case, whose interrupt line has a source then.
void Gpu::place_nic(const GpuParameters& parameters, bool functional, std::uint16_t gpu, Trace* trace) {
  if (parameters.nic) {
    nic = std::make_unique<nic::Nic>("nic", *parameters.nic, functional, gpu, trace);
    race_watch_.tap(output_map.nic, [&](auto& from) { probes_.join(from, nic->doorbells); });
    probes_.join(dma.nic, nic->engine);
    race_watch_.tap(nic->io.memory, [&](auto& from) { memory_watch_.join(from, cache.nic, "the NIC"); });
    return;
  }
  absent_nic_ = std::make_unique<nic::AbsentNic>("nic", gpu);
  probes_.join(bus.block(address_map::Block::nic), absent_nic_->registers);
  probes_.join(output_map.nic, absent_nic_->doorbells);
  probes_.join(dma.nic, absent_nic_->engine);
  probes_.join(absent_nic_->memory, cache.nic);
  absent_nic_->errors.bind(error_log.reports);
}

/// It is called `endpoint` in either case, as the NIC above.
void Gpu::place_endpoint(const GpuParameters& parameters, bool functional, std::uint16_t gpu) {
  if (parameters.endpoint) {
    endpoint = std::make_unique<endpoint::EndpointEngine>("endpoint", *parameters.endpoint, functional, gpu);
    fabric.make_endpoint_sockets();
    probes_.join(endpoint->remote, *fabric.from_endpoint);
    probes_.join(*fabric.to_endpoint, endpoint->arrivals);
    race_watch_.tap(endpoint->memory,
                    [&](auto& from) { memory_watch_.join(from, memory.port_for_endpoint(), "the endpoint engine"); });
    return;
  }
  absent_endpoint_ = std::make_unique<endpoint::AbsentEndpoint>("endpoint", gpu);
  probes_.join(bus.block(address_map::Block::endpoint), absent_endpoint_->registers);
  absent_endpoint_->errors.bind(error_log.reports);
}

void Gpu::place_power(const GpuParameters& parameters) {
  if (!parameters.power) return;
  power = std::make_unique<power::PowerGovernor>("power", *parameters.power, parameters.compute.clock_GHz, [this] {
    const auto& bytes = memory.dram_bytes();
    return static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}));
  });
  compute.clock.bind(*power);
}

void Gpu::place_plugged(const std::vector<PluggedBlock>& blocks, std::uint16_t gpu) {
  plugged.resize(plugged_windows);
  for (const PluggedBlock& block : blocks) {
    std::unique_ptr<PluginBlock>& placed = plugged.at(block.window);
    placed = make_plugged(block, gpu);
    const char* const registers_name = placed->registers().description().name;
    for (const registers::CatalogueEntry& entry : registers::catalogue)
      if (std::string_view(entry.description.name) == registers_name)
        block.block_at.reject(fmt::format("a block whose registers are called {}, as those of the GPU", registers_name),
                              "another name in its registers.json");
    error_log.add_block(registers_name, static_cast<std::uint32_t>(first_plugged) + block.window);
    placed->interrupt.bind(lines_[address_map::index_of(address_map::Line::plugin_0) + block.window]);
  }
}

nic::PacketReceiver& Gpu::packets() {
  if (nic) return *nic;
  return *absent_nic_;
}

void Gpu::bind_data_path() {
  memory_watch_.join(compute.memory, output_map.compute,
                     [this](const DataExtension& request) { return "kernel " + compute.running_in(request.queue); });
  race_watch_.tap(output_map.cache, [this](auto& from) { probes_.join(from, cache.compute); });
  race_watch_.tap(output_map.remote, [this](auto& from) { probes_.join(from, fabric.compute); });
  race_watch_.tap(output_map.signals, [this](auto& from) { probes_.join(from, signals.compute); });
  probes_.join(cache.memory, *memory.ports[memory::MemoryController::from_cache]);
  probes_.join(cache.bypass, *memory.ports[memory::MemoryController::from_bypass]);
  probes_.join(cache.peer_memory, *memory.ports[memory::MemoryController::from_peers]);
  probes_.join(cache.nic_memory, *memory.ports[memory::MemoryController::from_nic]);
  memory_watch_.join(fabric.memory, cache.peers, "a peer");
  probes_.join(fabric.signals, signals.peers);
  auto& engine_memory = *memory.ports[memory::MemoryController::from_dma];
  race_watch_.tap(dma.memory, [&](auto& from) {
    memory_watch_.join(from, cache.dma ? static_cast<DataTargetBase&>(*cache.dma) : engine_memory, "the DMA engine");
  });
  if (cache.dma) probes_.join(*cache.dma_memory, engine_memory);
  race_watch_.tap(dma.remote, [this](auto& from) { probes_.join(from, fabric.dma); });
  probes_.join(memory.tracker.trigger, following.trigger);
  probes_.join(following.complete, dma.trigger);
  probes_.join(following.memory, memory.port_for(following));
  probes_.join(memory.tracker.spill, *memory.ports[memory::MemoryController::from_tracker]);
}

void Gpu::bind_control_path() {
  race_watch_.tap_host(processor.socket, [this](auto& from) { probes_.join(from, bus.processor); });
  memory_watch_.join_plain(bus.memory, memory.plain, "the program");
  processor.on_memory([this](std::uint64_t address, std::uint64_t bytes, MemoryUse use) {
    race_watch_.forget(address, bytes);
    return memory_watch_.tell(address, bytes, use);
  });
  probes_.join(bus.remote, fabric.control);
  bus.errors.bind(error_log.reports);
  system.reset_pulse.bind(reset_);
}

/// Whatever has registers, figures or a diagnosis is found below this module: a block is plugged in by being a member.
void Gpu::plug_in_blocks(std::uint16_t gpu) {
  for (RegisterBlock* block : within<RegisterBlock>(*this)) plug_in(*block, gpu);
  for (const Component* component : within<const Component>(*this)) components_.push_back(component);
}

/// The block's window is that of its description in models/gpu.json, or the one that the system file gives it.
address_map::Block Gpu::window_of(const RegisterBlock& block) const {
  for (std::size_t window = 0; window < plugged.size(); ++window)
    if (plugged[window] && &plugged[window]->registers() == &block)
      return static_cast<address_map::Block>(static_cast<std::size_t>(first_plugged) + window);
  const auto* const entry =
      std::find_if(std::begin(registers::catalogue), std::end(registers::catalogue),
                   [&](const registers::CatalogueEntry& e) { return &e.description == &block.description(); });
  if (entry == std::end(registers::catalogue))
    throw std::logic_error(fmt::format("{}: its registers are not those of a block in models/gpu.json", block.name()));
  return entry->block;
}

void Gpu::plug_in(RegisterBlock& block, std::uint16_t gpu) {
  const address_map::Block window = window_of(block);
  probes_.join(bus.block(window), block.socket);
  block.locate(address_map::on_gpu(gpu, address_map::block_base(window)));
  block.reset_line.bind(reset_);
  if (&block != &error_log) block.errors.bind(error_log.reports);  // the log has bound its own
}

/// models/gpu.json names the port that drives each line.
void Gpu::bind_interrupts() {
  using Output = sc_core::sc_port_b<sc_core::sc_signal_inout_if<bool>>;
  for (const address_map::LineSource& source : address_map::line_sources) {
    const std::string port = fmt::format("{}.{}", name(), source.port);
    auto* const output = dynamic_cast<Output*>(sc_core::sc_find_object(port.c_str()));
    if (output == nullptr) throw std::logic_error(port + ": models/gpu.json names it, but it is no output of a block");
    output->bind(lines_[address_map::index_of(source.line)]);
  }
  for (std::size_t line = 0; line < lines_.size(); ++line) interrupts.lines[line].bind(lines_[line]);
  interrupts.interrupt.bind(interrupt_);
  processor.interrupt.bind(interrupt_);
}

void Gpu::bind_lines() {
  compute.kernel_active.bind(kernel_active_);
  compute.first_stage.bind(first_stage_);
  compute.withdraw.bind(withdraw_);
  signals.withdraw.bind(withdraw_);
  memory.kernel_active.bind(kernel_active_);
  memory.first_stage.bind(first_stage_);
  for (auto& running_output : running_outputs_) {
    compute.running_output.bind(running_output);
    output_map.running_output.bind(running_output);
    memory.tracker.running_output.bind(running_output);
  }
  compute.map_holders.bind(output_map);
  compute.map_holders.bind(memory.tracker);
  compute.users.bind(dma);
  compute.arrivals.bind(signals);
  compute.cache.bind(cache);
  dma.users.bind(memory.tracker);
  dma.users.bind(compute);
  dma.users.bind(signals);
  dma.counters.bind(signals);
  memory.users.bind(compute);
  memory.users.bind(signals);
}

void Gpu::observe_registers(RegisterObserver* observer) {
  for (RegisterBlock* block : within<RegisterBlock>(*this)) block->observe(observer);
  bus.observe(observer);
  processor.observe(observer);
}

namespace {

/// Adds the block's name in front.
StatisticVisitor with_group(const Component& component, const StatisticVisitor& visit) {
  return [&component, &visit](const std::string& name, const std::string& unit, const std::string& text, double value) {
    visit(fmt::format("{}.{}", component.group(), name), unit, text, value);
  };
}

}  // namespace

void Gpu::visit_statistics(const StatisticVisitor& visit) const {
  for (const Component* component : components_) component->visit_statistics(with_group(*component, visit));
}

void Gpu::visit_details(const StatisticVisitor& visit) const {
  for (const Component* component : components_) component->visit_details(with_group(*component, visit));
}

}  // namespace t3vp
