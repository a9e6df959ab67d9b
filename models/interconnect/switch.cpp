#include "interconnect/switch.h"

#include <fmt/format.h>

#include <algorithm>

#include "interconnect/link_packet.h"
#include "interconnect/route_rules.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"

namespace t3vp::interconnect {

namespace {

/// Flags are asked for again and again: each answer counts.
bool is_tensor_load(tlm::tlm_generic_payload& read) {
  const DataExtension& extension = extension_of(read);
  return extension.operation == Operation::load && !extension.real && extension.traffic != TrafficClass::control &&
         extension.shape.row_bytes % bytes_of(extension.element) == 0;
}

}  // namespace

Switch::Switch(const sc_core::sc_module_name& name, Picoseconds latency, const std::vector<std::uint32_t>& neighbours,
               Route route, std::size_t receivers, bool reduces, const Merging& merging)
    : sc_module(checked(name, with_latency(latency), PortRoute{route, neighbours.size()})),
      latency_(latency),
      neighbours_(neighbours),
      route_(std::move(route)),
      reduces_(reduces),
      merging_(merging),
      adders_free_(neighbours.size()) {
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
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

void Switch::request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const auto receiver = static_cast<std::size_t>(port);
  if (!is_packet(transaction)) return refuse(receiver, transaction, tlm::TLM_COMMAND_ERROR_RESPONSE, delay);
  const DataExtension& extension = extension_of(transaction);
  if (extension.operation == Operation::answer)
    if (Sum* const sum = sum_with(extension.fabric.asked)) return take_part(*sum, receiver, transaction, delay);
  if (merging_.works()) {
    close_loads(transaction);
    if (hold_update(receiver, transaction, delay) || merge(receiver, transaction, delay) ||
        hold(receiver, transaction, delay))
      return;
  }
  pass(receiver, transaction, delay);
}

void Switch::pass(std::size_t receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t gpu = address_map::gpu_of(transaction.get_address());
  if (gpu == address_map::all_gpus && reduces_)
    return extension.operation == Operation::request ? ask(receiver, transaction, neighbours_, delay)
                                                     : pass_to_all(receiver, transaction, delay);
  if (merging_.works() && extension.operation == Operation::request && hop_to(route_, gpu).port != no_port &&
      is_tensor_load(*extension.fabric.asked))
    return fetch_once(receiver, transaction, delay);
  const Hop hop = hop_to(route_, gpu);
  if (hop.port == no_port) return refuse(receiver, transaction, tlm::TLM_ADDRESS_ERROR_RESPONSE, delay);
  forward(receiver, transaction, hop, delay);
}

void Switch::refuse(std::size_t receiver, tlm::tlm_generic_payload& transaction, tlm::tlm_response_status status,
                    Picoseconds delay) {
  transaction.set_response_status(status);
  ingress[receiver]->respond(transaction, delay);
}

void Switch::forward(std::size_t receiver, tlm::tlm_generic_payload& transaction, const Hop& hop, Picoseconds delay) {
  Transaction& relay = pool_.relay(transaction);
  relay.generation = static_cast<std::uint32_t>(receiver);
  relay.extension().fabric.lane = {channel_of(hop, transaction), static_cast<std::uint16_t>(receiver + 1)};
  egress[hop.port]->send(relay, delay + latency_);
}

void Switch::pass_to_all(std::size_t receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  multicasts_.push_back({&transaction, receiver, neighbours_.size(), neighbours_.size()});
  const std::uint64_t local = address_map::local_of(transaction.get_address());
  for (const std::uint32_t gpu : neighbours_) {
    Transaction& relay = pool_.relay(transaction);
    const Hop hop = hop_to(route_, gpu);
    relay.generation = static_cast<std::uint32_t>(receiver);
    relay.set_address(address_map::on_gpu(gpu, local));
    relay.extension().fabric.lane = {channel_of(hop, transaction), static_cast<std::uint16_t>(receiver + 1)};
    egress[hop.port]->send(relay, delay + latency_);
  }
}

Switch::Multicast* Switch::multicast_of(const tlm::tlm_generic_payload& original) {
  for (Multicast& multicast : multicasts_)
    if (multicast.original == &original) return &multicast;
  return nullptr;
}

/// A request for a part of a sum refers to the sum's request, whose slot is kept until the sum is complete.
void Switch::taken(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  auto& relay = static_cast<Transaction&>(packet);
  if (relay.generation == own) return sum_taken(relay, delay);
  if (sum_of(relay.original()) != nullptr) return;
  Multicast* const multicast = multicast_of(relay.original());
  if (multicast == nullptr) return receiver_of(relay).taken(relay.original(), delay);
  multicast->taken_at = std::max(multicast->taken_at, now() + delay);
  if (--multicast->untaken == 0) receiver_of(relay).taken(relay.original(), multicast->taken_at - now());
}

void Switch::response(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  auto& relay = static_cast<Transaction&>(packet);
  if (relay.generation == own) return sum_answered(relay, delay);
  if (Sum* const sum = sum_of(relay.original())) return part_asked(*sum, relay, delay);
  if (Multicast* const multicast = multicast_of(relay.original())) return end_of(*multicast, relay, delay);
  DataTargetSocket<Switch>& receiver = receiver_of(relay);
  tlm::tlm_generic_payload& transaction = relay.end_relay();
  receiver.respond(transaction, delay + latency_);
  transaction.release();
}

/// One that refuses is enough for a refusal.
void Switch::end_of(Multicast& multicast, Transaction& relay, Picoseconds delay) {
  if (relay.is_response_error()) {
    multicast.status = relay.get_response_status();
    multicast.refusal = relay.extension().refusal;
  }
  tlm::tlm_generic_payload& transaction = relay.original();
  relay.release();
  transaction.release();
  multicast.answered_at = std::max(multicast.answered_at, now() + delay);
  if (--multicast.unanswered != 0) return;
  const Multicast ended = multicast;
  multicasts_.remove_if([&](const Multicast& other) { return &other == &multicast; });
  ended.original->set_response_status(ended.status);
  extension_of(*ended.original).refusal = ended.refusal;
  ingress[ended.receiver]->respond(*ended.original, ended.answered_at - now() + latency_);
}

/// The first GPU answers where the address is all GPUs'.
unsigned Switch::debug(int, tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  if (address_map::gpu_of(address) == address_map::all_gpus && reduces_) {
    transaction.set_address(address_map::on_gpu(neighbours_[0], address_map::local_of(address)));
    const unsigned bytes = debug(0, transaction);
    transaction.set_address(address);
    return bytes;
  }
  const Hop hop = hop_to(route_, address_map::gpu_of(transaction.get_address()));
  if (hop.port != no_port) return (*egress[hop.port])->transport_dbg(transaction);
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

}  // namespace t3vp::interconnect
