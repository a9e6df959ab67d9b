#include "endpoint/endpoint_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "endpoint/endpoint_ranges.h"
#include "protocol/access_description.h"
#include "protocol/checked_parameters.h"
#include "protocol/own_address.h"

namespace t3vp::endpoint {

EndpointEngine::EndpointEngine(const sc_core::sc_module_name& name, const EndpointParameters& parameters,
                               bool functional, std::uint16_t gpu)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      gpu_(gpu),
      sram_(parameters.sram_GBps),
      adders_(parameters.adder_GBps),
      shared_{
          arrivals,
          memory,
          remote,
          events_,
          sram_,
          adders_,
          pool_,
          parameters.message_bytes,
          parameters.latency,
          functional,
          gpu,
          [this](const Collective& collective) { ended(collective); },
          [this](Status status, std::uint64_t address, const std::string& text) { failed(status, address, text); }} {
  for (std::uint32_t ring = 0; ring < parameters.rings; ++ring) rings_.emplace_back(shared_, ring);
  arrivals.report_to(registers.errors, registers.description().name);
  arrivals.expect({functional, false});
  remote.on_taken(&EndpointEngine::remote_taken);
  registers.command.on_write([this] { command(); });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.rings_used.on_write([this] { share(); });
  registers.lock_while("a collective runs", [this] { return busy(); });
  registers.status.on_refresh([this] { registers.status.busy.set(busy()); });
  registers.started.on_refresh([this] { registers.started.set(started_); });
  registers.ended.on_refresh([this] { registers.ended.set(ended_.since_reset()); });
  registers.sent_bytes.on_refresh([this] {
    std::uint64_t bytes = 0;
    for (const RingCollectives& ring : rings_) bytes += ring.sent_bytes().since_reset();
    registers.sent_bytes.set(bytes);
  });
  registers.added_bytes.on_refresh([this] {
    std::uint64_t bytes = 0;
    for (const RingCollectives& ring : rings_) bytes += ring.added_bytes().since_reset();
    registers.added_bytes.set(bytes);
  });
  registers.on_reset([this] { reset(); });
  reset();
  generation_since_ = 0;
}

EndpointEngine::~EndpointEngine() = default;

/// What memory or links still answer finds no requester. What peers have sent until now is lost when it arrives.
void EndpointEngine::reset() {
  std::vector<std::pair<Picoseconds, RingEvent>> arriving;
  while (!events_.empty()) {
    const Picoseconds time = events_.next_time();
    const RingEvent event = events_.pop();
    if (event.what == RingEvent::arrived)
      arriving.emplace_back(time, event);
    else if (event.transaction != nullptr && event.what != RingEvent::left)
      event.transaction->release();
  }
  for (const auto& [time, event] : arriving) events_.push(time, event);
  generation_since_ = now() + 1;
  for (RingCollectives& ring : rings_) ring.clear(Status::peer_failed);
  sram_.reset();
  adders_.reset();
  started_ = 0;
  ended_.reset();
  registers.rings.set(parameters_.rings);
  registers.message_bytes.set(parameters_.message_bytes);
  registers.rings_used.set(parameters_.rings);
  share();
  if (interrupt.size() != 0) update_interrupt();
}

void EndpointEngine::share() {
  const std::uint64_t used = registers.rings_used.value();
  if (used == 0 || used > parameters_.rings)
    return registers.refuse(Status::invalid_argument, fmt::format("1 to {} expected", parameters_.rings));
  const RingShare share =
      RingShare::of(parameters_.sram_bytes, static_cast<std::uint32_t>(used), parameters_.message_bytes);
  for (RingCollectives& ring : rings_) ring.share(share);
  registers.places.set(share.places);
}

bool EndpointEngine::busy() const {
  return !events_.empty() ||
         std::any_of(rings_.begin(), rings_.end(), [](const RingCollectives& ring) { return ring.is_busy(); });
}

void EndpointEngine::command() {
  if (registers.command.action() == registers::Endpoint::Command::Action::start) start();
}

Collective EndpointEngine::staged() const {
  Collective collective;
  collective.plan = {static_cast<RingOperation>(registers.options.operation()), registers.bytes.value(),
                     static_cast<std::uint32_t>(registers.place.own()),
                     static_cast<std::uint32_t>(registers.place.gpus())};
  collective.buffer = registers.buffer.value();
  collective.element = static_cast<ElementType>(registers.options.element());
  collective.next = static_cast<std::uint16_t>(registers.neighbours.next());
  collective.previous = static_cast<std::uint16_t>(registers.neighbours.previous());
  return collective;
}

bool EndpointEngine::refuse(Status status, std::uint64_t address, const std::string& text) {
  registers.status.code.set(status);
  registers.report(status, address, text);
  return true;
}

bool EndpointEngine::refuses(const Collective& collective, std::uint32_t ring) {
  const auto& [operation, bytes, place, gpus] = collective.plan;
  const std::uint64_t buffer = collective.buffer;
  if (ring >= registers.rings_used.value())
    return refuse(Status::invalid_argument, buffer,
                  fmt::format("ring {}: 0 to {} expected", ring, registers.rings_used.value() - 1));
  if (gpus < 2 || place >= gpus)
    return refuse(
        Status::invalid_argument, buffer,
        fmt::format("place {} of {} GPUs: 2 GPUs or more, and a place of one of them, expected", place, gpus));
  if (buffer % RingPlan::granularity != 0 || bytes % RingPlan::granularity != 0)
    return refuse(
        Status::unaligned, buffer,
        fmt::format("collective of {} bytes at {:#x}: multiples of {} expected", bytes, buffer, RingPlan::granularity));
  if (bytes == 0) return refuse(Status::invalid_argument, buffer, "collective of 0 bytes: 32 or more expected");
  if (address_map::gpu_of(buffer) != gpu_ || !memory.holds(buffer, bytes))
    return refuse(Status::bad_address, buffer,
                  fmt::format("collective of {:#x} bytes at {:#x} is not all in the memory of GPU {}{}", bytes, buffer,
                              gpu_, number_hint(gpu_, buffer)));
  for (const std::uint16_t neighbour : {collective.next, collective.previous})
    if (neighbour == gpu_ || !remote.reaches(RingCollectives::address_at(neighbour, ring)))
      return refuse(Status::no_peer, buffer,
                    fmt::format("neighbour {}: another GPU, to which a link leads, expected", neighbour));
  for (const RingCollectives& other : rings_)
    if (other.uses(buffer, bytes))
      return refuse(Status::overlap, buffer,
                    fmt::format("collective of {} bytes at {:#x}: another one uses some of them", bytes, buffer));
  if (rings_[ring].has_failed())
    return refuse(Status::aborted, buffer, fmt::format("ring {} has failed: a reset expected", ring));
  if (rings_[ring].queued() >= parameters_.collectives)
    return refuse(Status::busy, buffer,
                  fmt::format("ring {} has {} collectives, as many as it holds", ring, parameters_.collectives));
  return false;
}

void EndpointEngine::start() {
  Collective collective = staged();
  const auto ring = static_cast<std::uint32_t>(registers.options.ring());
  if (refuses(collective, ring)) return;
  registers.status.code.set(Status::ok);
  if (order_ != nullptr)
    collective.order = order_->begin_transfer(gpu_, "endpoint engine", order_->point_of(gpu_, OrderObserver::program));
  ++started_;
  rings_[ring].start(collective);
}

void EndpointEngine::ended(const Collective& collective) {
  ++ended_;
  if (order_ != nullptr)
    order_->show(address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::endpoint)), collective.order);
  registers.interrupt.ended.set(1);
  update_interrupt();
}

void EndpointEngine::failed(Status status, std::uint64_t address, const std::string& text) {
  registers.report(status, address, text);
  if (registers.status.transfer() == Status::ok) registers.status.transfer.set(status);
  registers.interrupt.error.set(1);
  update_interrupt();
}

void EndpointEngine::push(RingEvent::What what, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  events_.push(now() + delay, {what, RingCollectives::maker_of(extension_of(transaction).token), &transaction});
}

void EndpointEngine::arrived(int, tlm::tlm_generic_payload& message, Picoseconds delay) {
  const std::uint32_t ring = RingCollectives::ring_of(message.get_address());
  if (ring >= registers.rings_used.value() || extension_of(message).operation != Operation::store) {
    registers.report(
        Status::bad_address, message.get_address(),
        fmt::format("{}: a store to one of {} rings expected", describe(message), registers.rings_used.value()));
    message.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return arrivals.respond(message, delay);
  }
  message.acquire();
  events_.push(now() + delay, {RingEvent::arrived, ring, &message});
}

void EndpointEngine::memory_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  push(transaction.is_read() ? RingEvent::loaded : RingEvent::stored, transaction, delay);
}

void EndpointEngine::remote_response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  push(RingEvent::answered, transaction, delay);
}

void EndpointEngine::remote_taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  push(RingEvent::left, transaction, delay);
}

void EndpointEngine::step() {
  while (events_.ready()) {
    const RingEvent event = events_.pop();
    if (event.what != RingEvent::arrived ||
        !is_of_an_earlier_generation(extension_of(*event.transaction), generation_since_)) {
      rings_[event.ring].handle(event);
      continue;
    }
    refuse_of_an_earlier_generation(*event.transaction);
    arrivals.respond(*event.transaction, 0);
    event.transaction->release();
  }
  events_.arm();
}

std::vector<std::string> EndpointEngine::diagnosis() const {
  std::vector<std::string> lines;
  for (const RingCollectives& ring : rings_)
    if (const std::string line = ring.diagnosis(); !line.empty())
      lines.push_back(fmt::format("GPU {} endpoint engine: {}", gpu_, line));
  return lines;
}

void EndpointEngine::visit_statistics(const StatisticVisitor& visit) const {
  double messages = 0, sent = 0, added = 0, used = 0, stalled = 0;
  for (const RingCollectives& ring : rings_) {
    messages += static_cast<double>(ring.messages());
    sent += static_cast<double>(ring.sent_bytes().total());
    added += static_cast<double>(ring.added_bytes().total());
    used += static_cast<double>(ring.most_used());
    stalled += to_ns(ring.stalled());
  }
  visit("collectives", "collectives", "collectives that have ended", static_cast<double>(ended_.total()));
  visit("messages", "messages", "messages sent", messages);
  visit("sent_bytes", "bytes", "payload sent", sent);
  visit("added_bytes", "bytes", "sums made", added);
  visit("memory_bytes", "bytes", "most of its memory in use, the sum of all rings", used * parameters_.message_bytes);
  visit("stalled", "ns", "rings had a message to send and the next GPU no place for it", stalled);
}

}  // namespace t3vp::endpoint
