// Engine at a GPU's links that runs collectives on rings beside the compute units, after ACE (Rashidi et al., ISCA
// 2021). It reads what the GPU adds from memory once, adds what arrives in a memory of its own, sends that on from
// there, and writes complete data alone to memory.
//
// The engine takes commands and orders in time what reaches its rings (RingCollectives).
#pragma once

#include <string>
#include <vector>

#include "endpoint/endpoint_parameters.h"
#include "endpoint/ring_collectives.h"
#include "protocol/component.h"
#include "registers/endpoint.h"

namespace t3vp::endpoint {

class EndpointEngine : public sc_core::sc_module, public Component, public OrderTeller {
 public:
  DataTargetSocket<EndpointEngine> arrivals{"arrivals", this, &EndpointEngine::arrived};  ///< of the links
  DataInitiatorSocket<EndpointEngine> memory{"memory", this, &EndpointEngine::memory_response};
  DataInitiatorSocket<EndpointEngine> remote{"remote", this, &EndpointEngine::remote_response};  ///< to the links
  sc_core::sc_out<bool> interrupt{"interrupt"};
  registers::Endpoint registers{"registers"};

  EndpointEngine(const sc_core::sc_module_name& name, const EndpointParameters& parameters, bool functional,
                 std::uint16_t gpu);
  ~EndpointEngine() override;

  /// One line for each ring that waits.
  std::vector<std::string> diagnosis() const override;
  const char* group() const override { return "endpoint"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

 private:
  void arrived(int, tlm::tlm_generic_payload& message, Picoseconds delay);
  void memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void push(RingEvent::What what, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void step();
  void command();
  void start();
  Collective staged() const;
  bool refuses(const Collective& collective, std::uint32_t ring);
  bool refuse(Status status, std::uint64_t address, const std::string& text);
  void share();
  void reset();
  void ended(const Collective& collective);
  void failed(Status status, std::uint64_t address, const std::string& text);
  void update_interrupt() { interrupt.write(registers.interrupt.value() != 0); }
  bool busy() const;

  EndpointParameters parameters_;
  std::uint16_t gpu_;
  TransactionPool pool_;
  SramAccess sram_, adders_;
  std::uint64_t started_ = 0;  ///< since the reset
  RunCount ended_;
  Picoseconds generation_since_ = 0;  ///< what peers have made before is lost
  EventQueue<RingEvent> events_{[this] { step(); }, Part::dma};
  RingCollectives::Engine shared_;
  std::vector<RingCollectives> rings_;
};

}  // namespace t3vp::endpoint
