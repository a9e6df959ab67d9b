#include "hardware/gpu.h"

#include <fmt/format.h>

namespace t3vp {
namespace {

ProcessorParameters with_quantum(ProcessorParameters parameters, double quantum_ns) {
  parameters.quantum = from_ns(quantum_ns);
  return parameters;
}

MemoryParameters memory_of(const RunConfiguration& configuration, std::uint32_t gpu) {
  const Faults& faults = configuration.faults;
  MemoryParameters parameters = configuration.system.memory;
  if (faults.lose_updates && faults.lose_updates->gpu == gpu)
    parameters.faults.lose_updates = faults.lose_updates->what;
  if (faults.flip_bit && faults.flip_bit->gpu == gpu) parameters.faults.flip_bit = faults.flip_bit->what;
  parameters.faults.wrong_rounding = faults.wrong_rounding == gpu;
  return parameters;
}

ComputeParameters compute_of(const RunConfiguration& configuration, std::uint32_t gpu) {
  ComputeParameters parameters = configuration.system.compute;
  parameters.memory_bytes = configuration.system.memory.capacity_bytes;
  parameters.wrong_rounding = configuration.faults.wrong_rounding == gpu;
  return parameters;
}

}  // namespace

Gpu::Gpu(const sc_core::sc_module_name& name, const RunConfiguration& configuration, const Placement& placement,
         Trace* trace)
    : sc_module(name),
      processor("processor", placement.gpu, with_quantum(configuration.system.processor, configuration.quantum_ns),
                trace),
      bus("bus", placement.gpu, configuration.system.processor.register_access),
      system("system", placement.gpu, placement.gpus, configuration.system.memory.capacity_bytes),
      interrupts("interrupts"),
      error_log("error_log", configuration.system.processor.error_log_entries),
      compute("compute", compute_of(configuration, placement.gpu), configuration.functional, placement.gpu, trace),
      output_map("output_map", configuration.system.output_map, placement.gpu),
      cache("cache", configuration.system.cache, configuration.system.memory.path_latency, placement.gpu),
      memory("memory", memory_of(configuration, placement.gpu), configuration.system.tracker, placement.gpu, trace),
      dma("dma", configuration.system.dma, configuration.functional, placement.gpu, trace),
      signals("signals", placement.gpu),
      fabric("fabric", placement.gpu, configuration.system.links.header_bytes, placement.neighbours, placement.route,
             placement.receivers),
      joints_(configuration.check_protocol),
      lines_("lines", InterruptController::line_count) {
  bind_data_path();
  bind_control_path(placement.gpu);
  bind_lines();
}

void Gpu::bind_data_path() {
  joints_.join(compute.memory, output_map.compute);
  joints_.join(output_map.cache, cache.compute);
  joints_.join(output_map.remote, fabric.compute);
  joints_.join(output_map.signals, signals.compute);
  joints_.join(cache.memory, *memory.ports[MemoryController::from_cache]);
  joints_.join(cache.bypass, *memory.ports[MemoryController::from_bypass]);
  joints_.join(cache.peer_memory, *memory.ports[MemoryController::from_peers]);
  joints_.join(fabric.memory, cache.peers);
  joints_.join(fabric.signals, signals.peers);
  joints_.join(dma.memory, *memory.ports[MemoryController::from_dma]);
  joints_.join(dma.remote, fabric.dma);
  joints_.join(memory.tracker.trigger, dma.trigger);
  joints_.join(memory.tracker.spill, *memory.ports[MemoryController::from_tracker]);
}

void Gpu::bind_control_path(std::uint16_t gpu) {
  joints_.join(processor.socket, bus.processor);
  joints_.join(bus.memory, memory.plain);
  joints_.join(bus.remote, fabric.control);
  bus.errors.bind(error_log.reports);
  using address_map::Block;
  const std::pair<Block, RegisterBlock*> blocks[] = {
      {Block::system, &system},
      {Block::interrupt_controller, &interrupts},
      {Block::error_log, &error_log},
      {Block::signals, &signals.registers},
      {Block::kernel_queue, &compute.registers},
      {Block::output_map, &output_map.registers},
      {Block::cache, &cache.registers},
      {Block::memory_controller, &memory.registers},
      {Block::near_memory, &memory.near_memory},
      {Block::tracker, &memory.tracker.registers},
      {Block::dma, &dma.registers},
      {Block::links, &fabric.registers},
  };
  for (const auto& [number, block] : blocks) {
    joints_.join(bus.block(number), block->socket);
    block->locate(address_map::on_gpu(gpu, address_map::block_base(number)));
    if (block != &error_log) block->errors.bind(error_log.reports);  // the log has bound its own
    block->reset_line.bind(reset_);
  }
}

void Gpu::bind_lines() {
  compute.interrupt.bind(lines_[InterruptController::kernel_queue]);
  dma.interrupt.bind(lines_[InterruptController::dma]);
  dma.error_interrupt.bind(lines_[InterruptController::dma_error]);
  cache.interrupt.bind(lines_[InterruptController::cache]);
  signals.interrupt.bind(lines_[InterruptController::signals]);
  error_log.interrupt.bind(lines_[InterruptController::error_log]);
  for (std::size_t line = 0; line < lines_.size(); ++line) interrupts.lines[line].bind(lines_[line]);
  interrupts.interrupt.bind(interrupt_);
  processor.interrupt.bind(interrupt_);
  system.reset_pulse.bind(reset_);
  compute.kernel_active.bind(kernel_active_);
  compute.first_stage.bind(first_stage_);
  compute.withdraw.bind(withdraw_);
  signals.withdraw.bind(withdraw_);
  memory.kernel_active.bind(kernel_active_);
  memory.first_stage.bind(first_stage_);
  compute.running_output.bind(running_output_);
  output_map.running_output.bind(running_output_);
  memory.tracker.running_output.bind(running_output_);
  compute.map_holders.bind(output_map);
  compute.map_holders.bind(memory.tracker);
  compute.users.bind(dma);
  dma.users.bind(memory.tracker);
  dma.users.bind(compute);
  memory.users.bind(compute);
  memory.tracker.interrupt.bind(lines_[InterruptController::tracker]);
}

void Gpu::visit_statistics(const StatisticVisitor& visit) const {
  const auto with_prefix = [&](const char* block) {
    return [&visit, block](const std::string& name, const std::string& unit, const std::string& text, double value) {
      visit(fmt::format("{}.{}", block, name), unit, text, value);
    };
  };
  processor.visit_statistics(with_prefix("processor"));
  compute.visit_statistics(with_prefix("compute"));
  output_map.visit_statistics(with_prefix("output_map"));
  cache.visit_statistics(with_prefix("cache"));
  memory.visit_statistics(with_prefix("dram"));
  memory.tracker.visit_statistics(with_prefix("tracker"));
  dma.visit_statistics(with_prefix("dma"));
}

}  // namespace t3vp
