#include "interconnect/fabric_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interconnect/link_packet.h"
#include "interconnect/route_rules.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/response_status.h"
#include "protocol/ring_signal.h"

namespace t3vp::interconnect {
namespace {

std::string no_route_to(std::uint64_t address) {
  const std::uint64_t gpu = address_map::gpu_of(address);
  if (gpu == address_map::all_gpus) return "no link leads to a switch that reduces, which all GPUs' addresses need";
  return fmt::format("no link leads to GPU {}", gpu);
}

}  // namespace

FabricPort::FabricPort(const sc_core::sc_module_name& name, std::uint16_t gpu, std::uint32_t header_bytes,
                       const std::vector<std::uint32_t>& neighbours, Route route, std::uint32_t receivers)
    : sc_module(checked(name, with_header(header_bytes), PortRoute{route, neighbours.size()})),
      gpu_(gpu),
      route_(std::move(route)),
      sent_(neighbours.size()),
      received_(receivers) {
  const char* block = registers.description().name;
  for (DataTargetSocket<FabricPort>* socket : {&compute, &dma}) {
    socket->report_to(registers.errors, block);
    socket->on_debug(&FabricPort::debug);
  }
  control.register_b_transport(this, &FabricPort::control_write);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    egress.push_back(std::make_unique<DataInitiatorSocket<FabricPort>>(fmt::format("egress_{}", i).c_str(), this,
                                                                       &FabricPort::response));
    egress.back()->on_taken(&FabricPort::taken);
  }
  memory.on_taken(&FabricPort::taken);
  signals.on_taken(&FabricPort::taken);
  for (std::uint32_t i = 0; i < receivers; ++i) {
    ingress.push_back(std::make_unique<DataTargetSocket<FabricPort>>(
        fmt::format("ingress_{}", i).c_str(), this, &FabricPort::request, first_ingress + static_cast<int>(i)));
    ingress.back()->report_to(registers.errors, block);
    ingress.back()->on_debug(&FabricPort::debug);
  }
  const auto constants = [this, neighbours, header_bytes] {
    registers.ports.set(neighbours.size());
    registers.header_bytes.set(header_bytes);
    for (std::size_t i = 0; i < registers.neighbour.size(); ++i)
      registers.neighbour[i].set(i < neighbours.size() ? neighbours[i] : no_port);
    for (std::size_t to = 0; to < registers.route.size(); ++to) {
      const Hop hop = hop_to(route_, to);
      registers.route[to].port.set(hop.port == no_port ? 0xFFFF : hop.port);
      registers.route[to].channel.set(hop.channel);
    }
    registers.all.port.set(route_.all.port == no_port ? 0xFFFF : route_.all.port);
    registers.all.channel.set(route_.all.channel);
  };
  constants();
  begin_generation();
  registers.on_reset([this, constants] {
    constants();
    ++resets_;
    generation_since_ = now() + 1;
    begin_generation();
    refused_.clear();
    std::fill(sent_.begin(), sent_.end(), 0);
    std::fill(received_.begin(), received_.end(), 0);
  });
  registers.sent.on_refresh([this](std::size_t i) { registers.sent[i].set(i < sent_.size() ? sent_[i] : 0); });
  registers.received.on_refresh(
      [this](std::size_t i) { registers.received[i].set(i < received_.size() ? received_[i] : 0); });
}

FabricPort::~FabricPort() = default;

void FabricPort::make_endpoint_sockets() {
  from_endpoint =
      std::make_unique<DataTargetSocket<FabricPort>>("fabric_from_endpoint", this, &FabricPort::request, from_engine);
  from_endpoint->report_to(registers.errors, registers.description().name);
  from_endpoint->on_debug(&FabricPort::debug);
  to_endpoint = std::make_unique<DataInitiatorSocket<FabricPort>>("fabric_to_endpoint", this, &FabricPort::response);
  to_endpoint->on_taken(&FabricPort::taken);
}

void FabricPort::begin_generation() {
  RingSignal own;
  own.workgroups = 0;
  own.sender = gpu_;
  own.generation = resets_;
  own_ = std::make_shared<RingSignal>(std::move(own));
}

void FabricPort::request(int source, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const std::uint64_t address = transaction.get_address();
  const bool arrived = source >= first_ingress && is_here(transaction);
  const Hop hop = hop_to(route_, address_map::gpu_of(address));
  if (!arrived && hop.port == no_port) {
    registers.report(Status::no_peer, address, no_route_to(address));
    extension_of(transaction).refusal = static_cast<std::uint32_t>(Status::no_peer);
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    answer(source, transaction, delay);
  } else if (const Operation operation = extension_of(transaction).operation;
             source < first_ingress && (operation == Operation::load || operation == Operation::fetch_add)) {
    ask(transaction, source, hop, delay);
  } else if (!is_packet(transaction) || (source < first_ingress && extension_of(transaction).fabric.asked != nullptr)) {
    registers.report(Status::invalid_argument, address,
                     describe(transaction) + ": loads, fetch-and-adds, stores and updates of other GPUs expected");
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    answer(source, transaction, delay);
  } else if (arrived) {
    deliver(transaction, source, delay);
  } else {
    forward(transaction, source, hop, delay);
  }
}

void FabricPort::forward(tlm::tlm_generic_payload& transaction, int source, const Hop& hop, Picoseconds delay) {
  DataExtension& extension = extension_of(transaction);
  if (source < first_ingress) {
    if (extension.made < generation_since_) {
      refuse_of_an_earlier_generation(transaction);
      return answer(source, transaction, delay);
    }
    extension.fabric.sender_generation_since = &generation_since_;
    extension.fabric.source = gpu_;
  }
  extension.fabric.lane.channel = channel_of(hop, transaction);
  extension.fabric.lane.input = static_cast<std::uint16_t>(source < first_ingress ? 0 : source - first_ingress + 1);
  if (extension.traffic != TrafficClass::control) sent_[hop.port] += extension.shape.bytes();
  pending_.add({&transaction, source});
  egress[hop.port]->send(transaction, delay);
}

bool FabricPort::is_here(const tlm::tlm_generic_payload& transaction) const {
  return address_map::gpu_of(transaction.get_address()) == gpu_;
}

void FabricPort::deliver(tlm::tlm_generic_payload& transaction, int source, Picoseconds delay) {
  DataExtension& extension = extension_of(transaction);
  if (extension.operation == Operation::answer) return take_answer(transaction, source, delay);
  const bool is_message = to_endpoint != nullptr && address_map::is_endpoint(transaction.get_address());
  const bool is_signal = !is_message && !address_map::is_hbm(transaction.get_address());
  if (!is_signal && is_of_an_earlier_generation(extension, generation_since_)) {
    refuse_of_an_earlier_generation(transaction);
    return answer(source, transaction, delay);
  }
  if (extension.operation == Operation::request) return serve(transaction, source, delay);
  extension.stream = Stream::communication;
  extension.cached = false;
  if (extension.traffic != TrafficClass::control)
    received_[static_cast<std::size_t>(source - first_ingress)] += extension.shape.bytes();
  if (!is_signal) {
    hand_over({&transaction, source});
    return (is_message ? *to_endpoint : memory).send(transaction, delay);
  }
  HeldSignal held{{&transaction, source}, {}, std::max(now() + delay, passed_until_[source])};
  for (const Pending& data : arriving_)
    if (data.source == source) held.before.push_back(data.transaction);
  held_.push_back(std::move(held));
  release_signals();
}

void FabricPort::release_signals() {
  for (std::size_t i = 0; i < held_.size();) {
    if (!held_[i].before.empty()) {
      ++i;
      continue;
    }
    const HeldSignal held = std::move(held_[i]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    hand_over(held.signal);
    mark_if_refused(extension_of(*held.signal.transaction));
    signals.send(*held.signal.transaction, std::max(held.ready, now()) - now());
  }
}

void FabricPort::note_refusal(tlm::tlm_generic_payload& transaction) {
  const std::shared_ptr<const RingSignal>& kernel = extension_of(transaction).ring;
  if (kernel == nullptr || !kernel->is_of_kernel() || !transaction.is_response_error()) return;
  if (extension_of(transaction).made < generation_since_) return;  // it says nothing of the kernels to come
  const auto known = std::find_if(refused_.begin(), refused_.end(), [&](const RefusedStore& refused) {
    return refused.kernel->sender == kernel->sender;
  });
  const RefusedStore refused{kernel, status_of_data_access(transaction)};
  if (known == refused_.end())
    refused_.push_back(refused);
  else if (!agree(*known->kernel, *kernel))
    *known = refused;
}

/// Marks a ring kernel's signal as failed when a store of its sender was refused here before.
void FabricPort::mark_if_refused(DataExtension& signal) {
  if (signal.ring == nullptr || !signal.ring->is_of_kernel()) return;
  const auto store = std::find_if(refused_.begin(), refused_.end(), [&](const RefusedStore& refused) {
    return refused.kernel->sender == signal.ring->sender;
  });
  if (store == refused_.end()) return;
  if (!agree(*store->kernel, *signal.ring)) {  // of another kernel: the one before has ended
    refused_.erase(store);
    return;
  }
  const auto marked = std::make_shared<RingSignal>(*signal.ring);
  if (marked->failure == 0) marked->failure = static_cast<std::uint32_t>(store->status);
  signal.ring = marked;
}

/// To the memory or signals here.
void FabricPort::hand_over(const Pending& arrival) {
  pending_.add(arrival);
  arriving_.push_back(arrival);
}

/// Nothing has to wait for a transaction any longer that came before it. Whether something may have.
bool FabricPort::passed_on(const tlm::tlm_generic_payload& transaction, Picoseconds time) {
  const auto arrival = std::find_if(arriving_.begin(), arriving_.end(),
                                    [&](const Pending& arrived) { return arrived.transaction == &transaction; });
  if (arrival == arriving_.end()) return false;
  Picoseconds& until = passed_until_[arrival->source];
  until = std::max(until, time);
  arriving_.erase(arrival);
  for (HeldSignal& held : held_) {
    const auto earlier = std::find(held.before.begin(), held.before.end(), &transaction);
    if (earlier == held.before.end()) continue;
    held.before.erase(earlier);
    held.ready = std::max(held.ready, time);
  }
  return true;
}

/// Returns whether the transaction is a read request of this port. It is not acknowledged: its read waits for the
/// response.
bool FabricPort::is_own_request(tlm::tlm_generic_payload& transaction, int source) const {
  return source < first_ingress && extension_of(transaction).operation == Operation::request;
}

void FabricPort::taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  Pending* const found = pending_.find(transaction);
  if (found == nullptr)
    return registers.report(Status::invalid_argument, transaction.get_address(),
                            describe(transaction) + ": a notice of nothing that was sent");
  const int source = found->source;
  if (source == own_answers) return answer_left(static_cast<Transaction&>(transaction), found->request, delay);
  if (is_own_request(transaction, source)) return;
  const bool may_release = passed_on(transaction, now() + delay);
  if (source == from_compute)
    compute.taken(transaction, delay);
  else if (source == from_dma)
    dma.taken(transaction, delay);
  else if (source == from_engine)
    from_endpoint->taken(transaction, delay);
  else if (source != from_control)
    ingress[static_cast<std::size_t>(source - first_ingress)]->taken(transaction, delay);
  if (may_release) release_signals();
}

void FabricPort::response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (pending_.find(transaction) == nullptr)
    return registers.report(Status::invalid_argument, transaction.get_address(),
                            describe(transaction) + ": a response to nothing that was sent");
  Pending ended = pending_.take(transaction);
  const int source = ended.source;
  if (source == own_answers) {
    answer_left(static_cast<Transaction&>(transaction), ended.request, delay);
    return transaction.release();
  }
  if (is_own_request(transaction, source)) return asked(static_cast<Transaction&>(transaction), delay);
  const bool may_release = passed_on(transaction, now() + delay);
  if (ended.request != nullptr) {
    served(static_cast<Transaction&>(transaction), *ended.request, source, delay);
    if (may_release) release_signals();
    return;
  }
  if (source >= first_ingress && is_here(transaction)) note_refusal(transaction);
  answer(source, transaction, delay);
  if (may_release) release_signals();
}

void FabricPort::answer(int source, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  switch (source) {
    case from_compute:
      return compute.respond(transaction, delay);
    case from_dma:
      return dma.respond(transaction, delay);
    case from_engine:
      return from_endpoint->respond(transaction, delay);
    case from_control:
      return posted_write_ended(static_cast<Transaction&>(transaction));
    default:
      return ingress[static_cast<std::size_t>(source - first_ingress)]->respond(transaction, delay);
  }
}

/// Reports a refusal to firmware by the error log alone. Refusals of writes before a reset are not reported.
void FabricPort::posted_write_ended(Transaction& packet) {
  if (packet.is_response_error() && packet.extension().token == resets_)
    registers.report(status_of_data_access(packet), packet.get_address(), text_of_refusal(packet));
  packet.release();
}

/// A posted write of firmware to a peer's registers: it is on its way when this returns.
void FabricPort::control_write(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address();
  const Hop hop = hop_to(route_, address_map::gpu_of(address));
  const unsigned bytes = transaction.get_data_length();
  if (hop.port == no_port) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return registers.report(Status::no_peer, address, no_route_to(address));
  }
  if (!transaction.is_write()) {
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return registers.report(Status::access_denied, address,
                            describe(transaction) + ": a peer's addresses can be written, not read");
  }
  if (transaction.get_byte_enable_ptr() != nullptr || transaction.get_streaming_width() < bytes ||
      transaction.get_data_ptr() == nullptr || bytes == 0 || bytes > 64) {
    transaction.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return registers.report(Status::bad_access, address,
                            describe(transaction) + ": posted writes of 1 to 64 bytes, all of them, expected");
  }
  Transaction& packet = pool_.make(Operation::store, address, {1, bytes, 0});
  packet.extension().cached = false;
  packet.extension().token = resets_;
  packet.extension().fabric.sender_generation_since = &generation_since_;
  if (order_ != nullptr) packet.extension().order = order_->point_of(gpu_, OrderObserver::program);
  if (!address_map::is_hbm(address)) packet.extension().ring = own_;
  packet.attach_buffer();
  std::memcpy(packet.get_data_ptr(), transaction.get_data_ptr(), bytes);
  packet.extension().fabric.lane.channel = hop.channel;
  pending_.add({&packet, from_control});
  egress[hop.port]->send(packet, from_sc_time(delay));
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// An access of no bytes asks whether there is a way; others go it.
unsigned FabricPort::debug(int source, tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  const Hop hop = hop_to(route_, address_map::gpu_of(address));
  if (source >= first_ingress && is_here(transaction))
    return (address_map::is_hbm(address) ? memory : signals)->transport_dbg(transaction);
  if (hop.port != no_port && transaction.get_data_length() != 0) return (*egress[hop.port])->transport_dbg(transaction);
  transaction.set_response_status(hop.port != no_port ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

std::vector<std::string> FabricPort::diagnosis() const {
  std::vector<std::string> lines;
  const std::pair<int, const char*> senders[] = {{from_compute, "compute units"},
                                                 {from_dma, "DMA engine"},
                                                 {from_control, "firmware"},
                                                 {from_engine, "endpoint engine"}};
  for (const auto& [source, name] : senders) {
    std::size_t count = 0, waiting = 0;
    const tlm::tlm_generic_payload* first = nullptr;
    for (const Pending& pending : pending_) {
      if (pending.source != source || is_own_request(*pending.transaction, source)) continue;
      if (first == nullptr) first = pending.transaction;
      ++count;
      if (!extension_of(*pending.transaction).taken) ++waiting;
    }
    if (count != 0)
      lines.push_back(
          fmt::format("GPU {} links: {} stores of its {} are not acknowledged, {} of them wait for a link; "
                      "one is the {}",
                      gpu_, count, name, waiting, describe(*first)));
  }
  tell_reads(lines);
  for (const HeldSignal& held : held_)
    lines.push_back(fmt::format("GPU {} links: a signal, the {}, waits for {} accesses that arrived before it", gpu_,
                                describe(*held.signal.transaction), held.before.size()));
  return lines;
}

std::uint64_t FabricPort::unacknowledged_bytes(std::uint32_t wg_id, std::uint8_t wf_id, std::uint64_t to) const {
  std::uint64_t bytes = 0;
  for (const Pending& pending : pending_) {
    const Producer& producer = extension_of(*pending.transaction).producer;
    if ((pending.source == from_compute || pending.source == from_dma) && producer.wg_id == wg_id &&
        producer.wf_id == wf_id && address_map::gpu_of(pending.transaction->get_address()) == address_map::gpu_of(to))
      bytes += pending.transaction->get_data_length();
  }
  return bytes;
}

}  // namespace t3vp::interconnect
