#include "interconnect/switch.h"

#include <fmt/format.h>

#include "interconnect/packet.h"
#include "protocol/address_map.h"

namespace t3vp::interconnect {

Switch::Switch(const sc_core::sc_module_name& name, Picoseconds latency, std::size_t ports, Route route,
               std::size_t receivers)
    : sc_module(name), latency_(latency), route_(std::move(route)) {
  for (std::size_t i = 0; i < ports; ++i) {
    egress.push_back(
        std::make_unique<DataInitiatorSocket<Switch>>(fmt::format("egress_{}", i).c_str(), this, &Switch::response));
    egress.back()->on_taken(&Switch::taken);
  }
  for (std::size_t i = 0; i < receivers; ++i) {
    ingress.push_back(std::make_unique<DataTargetSocket<Switch>>(fmt::format("ingress_{}", i).c_str(), this,
                                                                 &Switch::request, static_cast<int>(i)));
    ingress.back()->on_debug(&Switch::debug);
  }
}

void Switch::request(int receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Hop hop = hop_to(route_, address_map::gpu_of(transaction.get_address()));
  if (hop.port == no_port || !is_packet(transaction)) {
    transaction.set_response_status(hop.port == no_port ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                        : tlm::TLM_COMMAND_ERROR_RESPONSE);
    return ingress[static_cast<std::size_t>(receiver)]->respond(transaction, delay);
  }
  Transaction& relay = pool_.relay(transaction);
  relay.generation = static_cast<std::uint32_t>(receiver);
  relay.extension().lane = {channel_of(hop, transaction), static_cast<std::uint16_t>(receiver + 1)};
  egress[hop.port]->send(relay, delay + latency_);
}

void Switch::taken(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  auto& relay = static_cast<Transaction&>(packet);
  receiver_of(relay).taken(relay.original(), delay);
}

void Switch::response(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  auto& relay = static_cast<Transaction&>(packet);
  DataTargetSocket<Switch>& receiver = receiver_of(relay);
  tlm::tlm_generic_payload& transaction = relay.end_relay();
  receiver.respond(transaction, delay + latency_);
  transaction.release();
}

unsigned Switch::debug(int, tlm::tlm_generic_payload& transaction) {
  const Hop hop = hop_to(route_, address_map::gpu_of(transaction.get_address()));
  if (hop.port != no_port) return (*egress[hop.port])->transport_dbg(transaction);
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

}  // namespace t3vp::interconnect
