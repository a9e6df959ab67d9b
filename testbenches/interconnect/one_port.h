// A fabric port by itself: initiators in place of links, a target in place of memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/named_registers.h"
#include "data_path/target.h"
#include "interconnect/fabric_port.h"
#include "interconnect/signals.h"
#include "protocol/stubs.h"

namespace t3vp::interconnect {

struct OnePort {
  explicit OnePort(unsigned inputs) : port("port", 0, 0, {}, {Hop{}}, inputs) {
    for (unsigned i = 0; i < inputs; ++i) {
      links.push_back(std::make_unique<DataInitiator>(("link_" + std::to_string(i)).c_str()));
      checks.join_test(links.back()->socket, *port.ingress[i]);
    }
    stubs.stub(port.compute);
    stubs.stub(port.dma);
    stubs.stub(port.control);
    stubs.stub(signals.compute);
    checks.join(port.memory, memory.socket);
    checks.join(port.signals, signals.peers);
    signals.interrupt.bind(interrupt);
    signals.withdraw.bind(withdraw);
  }

  FabricPort port;
  Signals signals{"signals", 0};
  DataTarget memory{"memory"};
  std::vector<std::unique_ptr<DataInitiator>> links;
  NamedRegisters port_registers{"port_registers", port.registers}, counters{"counters", signals.registers};

 private:
  Stubs stubs;
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> interrupt;
  sc_core::sc_signal<std::uint32_t, sc_core::SC_MANY_WRITERS> withdraw;
  CheckedSockets checks;
};

}  // namespace t3vp::interconnect
