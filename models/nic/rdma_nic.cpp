#include "nic/rdma_nic.h"

#include <fmt/format.h>

#include "nic/network_rules.h"
#include "protocol/checked_parameters.h"

namespace t3vp::nic {

Nic::Nic(const sc_core::sc_module_name& name, const NicParameters& parameters, bool functional, std::uint16_t number,
         Trace* trace)
    : sc_module(checked(name, parameters)),
      io("io", parameters, functional, number),
      number_(number),
      status_(registers, number, [this] { update_interrupt(); }),
      completions_(registers, io),
      pairs_(registers, status_, completions_, io.memory),
      regions_(registers, status_, io.memory, parameters.regions),
      transmitter_(wire),
      waits_(registers, pairs_, engine, io, parameters.io_latency),
      entries_(registers, status_, pairs_, waits_, io, requester_, parameters),
      delivery_(registers, pairs_, entries_, io, transmitter_, events_, parameters.mtu),
      requester_(registers, pairs_, entries_, delivery_, regions_.table(), io, events_, parameters, functional, number),
      responder_(registers, status_, pairs_, regions_.table(), io, transmitter_, parameters, number),
      doorbells_(registers, status_, pairs_, entries_, completions_, io, events_, parameters.io_latency) {
  if (trace != nullptr) {
    transmitter_.show_on(trace, trace->track(fmt::format("GPU {}", number), "NIC sends"));
    responder_.show_on(trace, trace->track(fmt::format("GPU {}", number), "NIC stores"));
  }
  io.on_answer = [this](const Purpose& purpose, const tlm::tlm_generic_payload& access) { answered(purpose, access); };
  pairs_.on_error = [this](std::uint32_t queue) { flush(queue); };
  pairs_.on_forget = [this](std::uint32_t queue) { forget(queue); };
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.number.set(number);
  registers.on_reset([this] { reset(); });
  doorbells.report_to(registers.errors, registers.description().name);
  engine.report_to(registers.errors, registers.description().name);
  engine.on_debug(&Nic::engine_debug);
}

Nic::~Nic() = default;

void Nic::reset() {
  io.reset();
  while (!events_.empty()) events_.pop();
  requester_.stop();
  pairs_.reset();
  regions_.clear();
  requester_.reset();
  entries_.reset();
  registers.number.set(number_);
  update_interrupt();
}

/// Forgets the packets in flight; their responses are then ignored.
void Nic::flush(std::uint32_t queue) {
  delivery_.drop(queue);
  responder_.drop(queue);
  entries_.flush(queue);
  waits_.end(queue);
  requester_.drop(queue);
}

void Nic::forget(std::uint32_t queue) {
  waits_.forget(queue);
  doorbells_.forget(queue);
  entries_.forget(queue);
  delivery_.forget(queue);
  responder_.forget(queue);
  requester_.forget(queue);
}

void Nic::update_interrupt() {
  interrupt.write(registers.interrupt.completion() != 0 || registers.interrupt.error() != 0);
}

void Nic::step() {
  while (events_.ready()) handle(events_.pop());
  events_.arm();
}

void Nic::handle(const NicEvent& event) {
  const bool is_current = pairs_.is_current(event.queue, event.generation);
  switch (event.what) {
    case NicEvent::doorbell:
      if (is_current) doorbells_.arrived(event.queue, static_cast<std::uint32_t>(event.value));
      break;
    case NicEvent::begin:
      requester_.interval_ended();
      break;
    case NicEvent::left:
      requester_.room_made(event.value);
      break;
    case NicEvent::timeout:
      if (is_current) delivery_.timer_ended(event.queue);
      break;
    case NicEvent::receiver_wait:
      if (is_current) delivery_.send_again(event.queue);
      break;
  }
}

/// Responses to requests from before a queue pair's reset are dropped; completions belong to the completion queue.
void Nic::answered(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  if (purpose.what == Purpose::completion) return completion_stored(purpose.queue, access);
  if (purpose.what == Purpose::entry) return entries_.entry_read(purpose, access);
  if (!pairs_.is_current(purpose.queue, purpose.generation)) return;
  switch (purpose.what) {
    case Purpose::record:
      return doorbells_.record_read(purpose, access);
    case Purpose::payload:
      return requester_.payload_read(purpose, access);
    case Purpose::scatter:
      return delivery_.scattered(purpose, access);
    default:
      return responder_.served(purpose, access);
  }
}

void Nic::completion_stored(std::uint32_t queue, const tlm::tlm_generic_payload& access) {
  if (access.is_response_error()) {
    status_.log(Status::bad_address, access.get_address(),
                fmt::format("entry of completion queue {} could not be stored", queue));
    return status_.raise_error();
  }
  if (completions_.has_arrived(queue)) status_.raise_completion();
}

void Nic::receive(const PacketPointer& packet, Picoseconds sent) {
  if (!pairs_.admits(*packet, sent)) return;
  io.follow(packet->order);
  if (packet->is_request())
    responder_.received(*packet);
  else
    delivery_.received(*packet);
}

void Nic::kernel_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  transaction.acquire();
  stores_.push(now() + delay, &transaction);
}

void Nic::take_stores() {
  while (stores_.ready()) {
    tlm::tlm_generic_payload& store = *stores_.pop();
    store.set_response_status(tlm::TLM_OK_RESPONSE);
    doorbells_.take(store, "compute units");
    doorbells.respond(store, 0);
    store.release();
  }
  stores_.arm();
}

/// A debug access without bytes asks whether there is such a doorbell.
unsigned Nic::engine_debug(int, tlm::tlm_generic_payload& transaction) {
  const bool is_there = transaction.get_data_length() == 0 && waits_.is_doorbell(transaction.get_address());
  transaction.set_response_status(is_there ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

void Nic::engine_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  transaction.acquire();
  engine_requests_.push(now() + delay, &transaction);
}

void Nic::take_engine_requests() {
  while (engine_requests_.ready()) {
    tlm::tlm_generic_payload& request = *engine_requests_.pop();
    if (extension_of(request).operation == Operation::wait) {
      waits_.take(request);
      continue;
    }
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    doorbells_.take(request, "the DMA engine");
    engine.respond(request, 0);
    request.release();
  }
  engine_requests_.arm();
}

void Nic::visit_statistics(const StatisticVisitor& visit) const {
  const auto count = [&visit](const char* name, const char* unit, const char* text, std::uint64_t value) {
    visit(name, unit, text, static_cast<double>(value));
  };
  const SendQueues::Figures& entries = entries_.figures();
  const Transmitter::Figures& sent = transmitter_.figures();
  count("doorbells", "doorbells", "rung by firmware and by kernels, of queue pairs that were ready for it",
        doorbells_.rung());
  count("messages", "messages", "sent and acknowledged", entries.messages.total());
  count("writes", "messages", "of those, RDMA writes of data in memory, with immediate or without", entries.writes);
  count("inline_writes", "messages", "of those, RDMA writes of data in their entry, such as flags",
        entries.inline_writes);
  count("written", "bytes", "of both kinds of writes, each counted once however often it was sent", entries.written);
  count("completions", "completions", "stored, those of receive entries too", completions_.stored());
  count("payload", "bytes", "put on the wire, those that are sent again too", sent.payload);
  count("packets", "packets", "sent", sent.packets);
  count("wire_bytes", "bytes", "of packets sent, with headers", sent.wire_bytes);
  visit("sending", "ns", "in which packets left on the wire", to_ns(sent.sending));
  count("lost", "packets", "of those sent that the wire has lost", sent.lost);
  count("placed", "bytes", "of peers' writes stored in memory, or added to it", responder_.placed());
  count("acknowledgements", "packets", "received", delivery_.acknowledgements());
  count("resent", "packets", "sent again", delivery_.resent());
  count("dropped", "packets", "of peers that no queue pair was ready for", pairs_.dropped());
  count("errors", "events", "error interrupts raised", status_.errors());
}

std::vector<std::string> Nic::diagnosis() const {
  std::vector<std::string> lines;
  for (std::uint32_t number = 0; number < pairs_.count(); ++number) {
    const SendQueue& queue = entries_[number];
    if (queue.posted == queue.finished) continue;
    std::string line = fmt::format("NIC {}: queue pair {} has ended {} of {} work entries", number_, number,
                                   queue.finished, queue.posted);
    if (!queue.messages.empty() && queue.messages.front().stage >= Message::Stage::fetched) {
      const WorkEntry& next = queue.messages.front().entry;
      line += fmt::format("; the next is a {} of {} bytes at {:#x}", name_of(next.opcode()), next.bytes(),
                          next.head.remote_address);
    }
    if (const Packet* oldest = delivery_.oldest(number))
      line += fmt::format("; packet {} is not acknowledged", oldest->sequence);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace t3vp::nic
