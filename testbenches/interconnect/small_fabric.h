// A one-way ring of fabric ports, GPU g to g - 1 and on, with counters and listening memories.
#pragma once

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/named_registers.h"
#include "data_path/target.h"
#include "interconnect/fabric_port.h"
#include "interconnect/link.h"
#include "interconnect/signals.h"

namespace t3vp::interconnect {

/// Firmware's way to peers.
class PostingInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<PostingInitiator, 64> socket{"socket"};
  explicit PostingInitiator(const sc_core::sc_module_name& name) : sc_module(name) {}

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::vector<unsigned char> data) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(payload.get_data_length());
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    return payload.get_response_status();
  }
};

struct FabricNode {
  FabricPort port;
  Signals signals;
  DataInitiator compute, dma;
  PostingInitiator firmware;
  DataTarget memory;
  DataInitiator workgroup;
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> interrupt;
  sc_core::sc_signal<std::uint32_t, sc_core::SC_MANY_WRITERS> withdraw;
  NamedRegisters registers, signal_registers;
  CheckedSockets checks;

  FabricNode(const std::string& name, std::uint16_t gpu, std::uint32_t previous, const Route& route)
      : port(name.c_str(), gpu, LinkParameters{}.header_bytes, {previous}, route, 1),
        signals((name + "_signals").c_str(), gpu),
        compute((name + "_compute").c_str()),
        dma((name + "_dma").c_str()),
        firmware((name + "_firmware").c_str()),
        memory((name + "_memory").c_str()),
        workgroup((name + "_workgroup").c_str()),
        interrupt((name + "_interrupt").c_str()),
        withdraw((name + "_withdraw").c_str()),
        registers((name + "_registers").c_str(), port.registers),
        signal_registers((name + "_signal_registers").c_str(), signals.registers) {
    checks.join_test(compute.socket, port.compute);
    checks.join_test(dma.socket, port.dma);
    checks.join_test(firmware.socket, port.control);
    checks.join(port.memory, memory.socket);
    checks.join(port.signals, signals.peers);
    checks.join_test(workgroup.socket, signals.compute);
    signals.interrupt.bind(interrupt);
    signals.withdraw.bind(withdraw);
  }
};

struct SmallFabric {
  LinkParameters parameters;
  std::vector<std::unique_ptr<FabricNode>> gpus;
  std::vector<std::unique_ptr<Link>> links;  ///< [g]: from GPU g to the one before it
  CheckedSockets checks;

  /// `cut` is a GPU that no route leads to.
  explicit SmallFabric(std::uint32_t count, const LinkParameters& p = {}, std::uint32_t cut = no_port) : parameters(p) {
    for (std::uint32_t g = 0; g < count; ++g) {
      Route route(count, {0, 0});
      route[g].port = no_port;
      if (cut < count) route[cut].port = no_port;
      gpus.push_back(std::make_unique<FabricNode>("gpu" + std::to_string(g), static_cast<std::uint16_t>(g),
                                                  (g + count - 1) % count, route));
    }
    for (std::uint32_t g = 0; g < count; ++g) {
      const std::uint32_t to = (g + count - 1) % count;
      links.push_back(std::make_unique<Link>(("link" + std::to_string(g)).c_str(), p, static_cast<std::uint16_t>(g),
                                             static_cast<std::uint16_t>(to), nullptr));
      checks.join(*gpus[g]->port.egress[0], links[g]->in);
      checks.join(links[g]->out, *gpus[to]->port.ingress[0]);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  FabricNode& operator[](std::size_t gpu) { return *gpus[gpu]; }

  static DataAccess packet(std::uint64_t address, std::uint32_t bytes, std::uint32_t wg_id = 0) {
    DataAccess access;
    access.operation = Operation::update;
    access.address = address;
    access.shape = {1, bytes, 0};
    access.producer = {wg_id, 0, 0};
    access.traffic = TrafficClass::gemm_write;
    return access;
  }
  static std::uint64_t add_register(std::uint16_t gpu, std::uint64_t counter) {
    return address_map::on_gpu(
        gpu, address_map::block_base(address_map::Block::signals) + registers::Signals::add_offset + counter * 8);
  }
  /// Firmware of `from` adds 1 to a counter of `to`.
  tlm::tlm_response_status signal(std::size_t from, std::uint16_t to, std::uint64_t counter) {
    return gpus[from]->firmware.access(tlm::TLM_WRITE_COMMAND, add_register(to, counter), {1, 0, 0, 0, 0, 0, 0, 0});
  }

  static void settle() { sc_core::sc_start(); }
  static void run_for(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }
};

}  // namespace t3vp::interconnect
