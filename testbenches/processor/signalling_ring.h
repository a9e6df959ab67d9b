// A ring of GPUs as far as firmware's signals go: processor, control bus, interrupt controller, counters, and links of
// 500 ns to the previous GPU.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "data_path/checked_sockets.h"
#include "processor/command_processor.h"
#include "processor/control_bus.h"
#include "processor/interrupt_controller.h"
#include "processor/system.h"
#include "protocol/address_map.h"
#include "registers/kernel_queue.h"
#include "registers/signals.h"

namespace t3vp::processor {

class SignallingGpu : public sc_core::sc_module {
 public:
  CommandProcessor processor;
  ControlBus bus;
  InterruptController controller{"controller"};
  System system;
  registers::KernelQueue kernel_queue{"kernel_queue"};
  registers::Signals signals{"signals"};
  tlm_utils::simple_target_socket<SignallingGpu, 64> link_in{"link_in"};
  tlm_utils::simple_initiator_socket<SignallingGpu, 64> link_out{"link_out"};
  tlm_utils::simple_target_socket<SignallingGpu, 64> arrivals{"arrivals"};

  SignallingGpu(const sc_core::sc_module_name& name, std::uint16_t gpu, std::uint16_t gpus, Picoseconds quantum)
      : sc_module(name),
        processor("processor", gpu, with_quantum(quantum)),
        bus("bus", gpu, 100'000),
        system("system", gpu, gpus, 1u << 20),
        previous_((gpu + gpus - 1u) % gpus) {
    using address_map::Block;
    checks_.join(processor.socket, bus.processor);
    checks_.join(bus.block(Block::system), system.socket);
    checks_.join(bus.block(Block::interrupt_controller), controller.socket);
    checks_.join(bus.block(Block::signals), signals.socket);
    checks_.join(bus.block(Block::kernel_queue), kernel_queue.socket);
    checks_.join(bus.remote, link_in);
    link_in.register_b_transport(this, &SignallingGpu::link);
    arrivals.register_b_transport(this, &SignallingGpu::arrive);
    controller.interrupt.bind(interrupt_);
    processor.interrupt.bind(interrupt_);
    system.reset_pulse.bind(reset_);
    for (std::size_t i = 0; i < lines_.size(); ++i) controller.lines[i].bind(lines_[i]);
    kernel_queue.compute_units.set(4);
    signals.add.on_write([this](std::size_t i) { add(i, signals.add[i].value()); });
    signals.interrupt.on_write([this] { changed_.notify(sc_core::SC_ZERO_TIME); });
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&changed_);
    sc_core::sc_spawn(
        [this] { lines_[address_map::index_of(address_map::Line::signals)].write(signals.interrupt.changed()); },
        "drive", &options);
  }

  /// Address of one of this GPU's register blocks.
  std::uint64_t base(address_map::Block block) const {
    return address_map::on_gpu(processor.gpu(), address_map::block_base(block));
  }

  /// As if a peer had signalled.
  void add(std::size_t counter, std::uint64_t value) {
    signals.value[counter].set(signals.value[counter].value() + value);
    if (counter == signals.watch.index()) signals.interrupt.changed.set(true);
    changed_.notify(sc_core::SC_ZERO_TIME);
  }

 private:
  static ProcessorParameters with_quantum(Picoseconds quantum) {
    ProcessorParameters parameters;
    parameters.quantum = quantum;
    return parameters;
  }

  void link(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    if (address_map::gpu_of(transaction.get_address()) != previous_)
      return transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    wait(delay + sc_core::sc_time(500, sc_core::SC_NS));
    delay = sc_core::SC_ZERO_TIME;
    link_out->b_transport(transaction, delay);
  }

  /// A peer's signal.
  void arrive(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    const std::uint64_t offset =
        transaction.get_address() - base(address_map::Block::signals) - registers::Signals::add_offset;
    std::uint64_t value = 0;
    std::memcpy(&value, transaction.get_data_ptr(), sizeof value);
    add(offset / sizeof value, value);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::uint64_t previous_;
  CheckedSockets checks_;
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines_{"line_signals", InterruptController::line_count};
  sc_core::sc_signal<bool> interrupt_{"interrupt"}, reset_{"reset"};
  sc_core::sc_event changed_;
};

class SignallingRing {
 public:
  SignallingRing(const std::string& name, std::uint16_t gpus, Picoseconds quantum) {
    for (std::uint16_t g = 0; g < gpus; ++g)
      gpus_.push_back(std::make_unique<SignallingGpu>((name + "_gpu" + std::to_string(g)).c_str(), g, gpus, quantum));
    for (std::uint16_t g = 0; g < gpus; ++g) gpus_[g]->link_out.bind(gpus_[(g + gpus - 1u) % gpus]->arrivals);
  }

  SignallingGpu& operator[](std::size_t gpu) { return *gpus_[gpu]; }
  std::size_t size() const { return gpus_.size(); }

 private:
  std::vector<std::unique_ptr<SignallingGpu>> gpus_;
};

}  // namespace t3vp::processor
