#include "nic/rdma_nic.h"

#include <fmt/format.h>

namespace t3vp::nic {

Nic::Nic(const sc_core::sc_module_name& name, const NicParameters& parameters, bool functional, std::uint16_t number,
         Trace* trace)
    : sc_module(name),
      io("io", parameters, functional),
      parameters_(parameters),
      functional_(functional),
      number_(number),
      regions_(parameters.regions),
      completions_(registers, io),
      queue_pairs_(registers.send_base.size()),
      trace_(trace) {
  if (trace_ != nullptr) {
    sends_ = trace_->track(fmt::format("GPU {}", number), "NIC sends");
    stores_of_peers_ = trace_->track(fmt::format("GPU {}", number), "NIC stores");
  }
  io.on_answer = [this](const Purpose& purpose, const tlm::tlm_generic_payload& access) { answered(purpose, access); };
  registers.command.on_write([this] { command(); });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.state_register.on_write([this](std::size_t queue) { change_state(queue); });
  registers.state_register.on_refresh(
      [this](std::size_t queue) { registers.state_register[queue].now.set(queue_pairs_[queue].state); });
  for (auto* described : {&registers.send_base, &registers.doorbell_record, &registers.send_entries})
    described->on_write([this](std::size_t queue) { refuse_outside(QueuePairState::reset, queue); });
  registers.completion_queue.on_write([this](std::size_t queue) { refuse_outside(QueuePairState::reset, queue); });
  registers.peer.on_write([this](std::size_t queue) { refuse_outside(QueuePairState::init, queue); });
  registers.retry.on_write([this](std::size_t queue) { refuse_outside(QueuePairState::init, queue); });
  completions_.user_of = [this](std::size_t queue) { return user_of_completions(queue); };
  registers.doorbell.on_write([this](std::size_t queue) { doorbell_written(queue); });
  registers.receive_doorbell.on_write([this](std::size_t queue) { post_receive(queue); });
  registers.posted.on_refresh([this](std::size_t queue) { registers.posted[queue].set(posted(queue)); });
  registers.finished.on_refresh(
      [this](std::size_t queue) { registers.finished[queue].set(queue_pairs_[queue].finished); });
  registers.regions.on_refresh([this] { registers.regions.set(regions_.used()); });
  registers.messages.on_refresh([this] { registers.messages.set(figures_.messages); });
  registers.number.set(number);
  registers.on_reset([this] { reset(); });
  doorbells.report_to(registers.errors, registers.description().name);
  engine.report_to(registers.errors, registers.description().name);
  engine.on_debug(&Nic::engine_debug);

  SC_HAS_PROCESS(Nic);
  SC_METHOD(step);
  sensitive << events_.event();
  dont_initialize();
  SC_METHOD(take_stores);
  sensitive << stores_.get_event();
  dont_initialize();
  SC_METHOD(take_engine_requests);
  sensitive << engine_requests_.event();
  dont_initialize();
}

/// Packets that are on the wire find queue pairs in reset.
void Nic::reset() {
  io.reset();
  reset_at_ = now();
  while (!events_.empty()) events_.pop();
  to_fetch_.clear();
  ready_.clear();
  wait_for_room_.clear();
  for (std::uint32_t queue = 0; queue < queue_pairs_.size(); ++queue) {
    queue_pairs_[queue].is_ready = false;
    forget(queue);
  }
  regions_.clear();
  begin_is_due_ = false;
  payload_in_flight_ = 0;
  fetching_ = 0;
  figures_ = {};
  registers.number.set(number_);
  update_interrupt();
}

void Nic::update_interrupt() {
  interrupt.write(registers.interrupt.completion() != 0 || registers.interrupt.error() != 0);
}

void Nic::raise_error() {
  ++figures_.errors;
  registers.interrupt.error.set(1);
  update_interrupt();
}

void Nic::log(Status status, std::uint64_t address, const std::string& text) {
  registers.report(status, address, fmt::format("NIC {}: {}", number_, text));
}

Purpose Nic::purpose(Purpose::What what, std::uint32_t queue, std::uint64_t number, std::uint32_t offset) const {
  Purpose made;
  made.what = what;
  made.queue = queue;
  made.generation = queue_pairs_[queue].generation;
  made.number = number;
  made.offset = offset;
  return made;
}

void Nic::step() {
  while (events_.ready()) {
    const Event event = events_.pop();
    const bool current = is_current(event.queue, event.generation);
    switch (event.what) {
      case Event::doorbell:
        if (current) read_record(event.queue, static_cast<std::uint32_t>(event.value));
        break;
      case Event::begin:
        begin_is_due_ = false;
        begin_messages();
        break;
      case Event::left:
        room_made(event.value);
        break;
      case Event::timeout:
        if (current) timer_ended(event.queue);
        break;
      case Event::receiver_wait:
        if (current) send_again(queue_pairs_[event.queue]);
        break;
    }
  }
  events_.arm();
}

/// What a queue pair asked for before it was reset is dropped; completions are the queue's own.
void Nic::answered(const Purpose& purpose, const tlm::tlm_generic_payload& access) {
  if (purpose.what == Purpose::completion) {
    if (access.is_response_error()) {
      log(Status::bad_address, access.get_address(),
          fmt::format("entry of completion queue {} could not be stored", purpose.queue));
      return raise_error();
    }
    if (completions_.has_arrived(purpose.queue)) {
      registers.interrupt.completion.set(1);
      update_interrupt();
    }
    return;
  }
  if (purpose.what == Purpose::entry) --fetching_;
  if (is_current(purpose.queue, purpose.generation)) switch (purpose.what) {
      case Purpose::record:
        if (access.is_response_error()) {
          log(Status::bad_address, access.get_address(),
              fmt::format("doorbell record of queue pair {} could not be read", purpose.queue));
          enter_error(purpose.queue, {NicCause::send_queue, NicSyndrome::ok, access.get_address()});
        } else {
          learn(purpose.queue, static_cast<std::uint32_t>(t3_number_at(access.get_data_ptr(), 4)),
                static_cast<std::uint32_t>(purpose.value));
        }
        break;
      case Purpose::entry:
        entry_arrived(purpose, access);
        break;
      case Purpose::payload:
        payload_arrived(purpose, access);
        break;
      case Purpose::scatter:
        scattered(purpose, access);
        break;
      default:
        placed(purpose, access);
    }
  if (purpose.what == Purpose::entry) fetch();
}

namespace {

/// Sequence numbers begin anew with each generation of a queue pair, where InfiniBand's begin at random: a request that
/// was on its way when its receiver became ready, and an answer to what has been forgotten, would be taken for others.
bool is_of_an_earlier_generation(const QueuePair& pair, const Packet& packet, Picoseconds sent) {
  return packet.is_request() ? sent < pair.ready_since : packet.generation != pair.generation;
}

}  // namespace

void Nic::receive(const PacketPointer& packet, Picoseconds sent) {
  const std::uint32_t queue = packet->to_queue_pair;
  if (queue >= queue_pairs_.size()) {
    ++figures_.dropped;
    return log(
        Status::no_peer, 0,
        fmt::format("{} for queue pair {}: at most {} expected", describe(*packet), queue, queue_pairs_.size() - 1));
  }
  QueuePair& pair = queue_pairs_[queue];
  if (is_of_an_earlier_generation(pair, *packet, sent)) {
    ++figures_.dropped;
    return;
  }
  const auto peer = registers.peer[queue];
  const bool is_connected =
      pair.state == QueuePairState::ready_to_receive || pair.state == QueuePairState::ready_to_send;
  if (!is_connected || peer.nic() != packet->from_nic || peer.queue_pair() != packet->from_queue_pair)
    return drop(queue, *packet);
  if (!packet->is_request()) return answer_received(queue, *packet);
  if (pair.peer_generation.value_or(packet->generation) != packet->generation) return drop(queue, *packet);
  pair.peer_generation = packet->generation;
  request_received(queue, *packet);
}

/// Its sender is told nothing, and tries until its retries are used up. Only the first of a state is logged, and none
/// where the log has the queue pair's own mistake.
void Nic::drop(std::uint32_t queue, const Packet& packet) {
  ++figures_.dropped;
  QueuePair& pair = queue_pairs_[queue];
  const bool is_known = pair.state == QueuePairState::error && pair.cause.what != NicCause::software;
  if (pair.told_drop || is_known) return;
  pair.told_drop = true;
  const auto peer = registers.peer[queue];
  log(Status::no_peer, 0,
      fmt::format("{} for queue pair {} in {} with peer {} of NIC {}{} is dropped", describe(packet), queue,
                  name_of(pair.state), peer.queue_pair(), peer.nic(),
                  pair.peer_generation && *pair.peer_generation != packet.generation
                      ? ", which has been reset since: this one has to be reset and connected anew, too,"
                      : ""));
}

void Nic::visit_statistics(const StatisticVisitor& visit) const {
  const auto value = [](std::uint64_t figure) { return static_cast<double>(figure); };
  visit("doorbells", "doorbells", "rung by firmware and by kernels, of queue pairs that were ready for it",
        value(figures_.doorbells));
  visit("messages", "messages", "sent and acknowledged", value(figures_.messages));
  visit("writes", "messages", "of those, RDMA writes of data in memory, with immediate or without",
        value(figures_.writes));
  visit("inline_writes", "messages", "of those, RDMA writes of data in their entry, such as flags",
        value(figures_.inline_writes));
  visit("written", "bytes", "of both kinds of writes, each counted once however often it was sent",
        value(figures_.written));
  visit("completions", "completions", "stored, those of receive entries too", value(figures_.completions));
  visit("payload", "bytes", "put on the wire, those that are sent again too", value(figures_.payload));
  visit("packets", "packets", "sent", value(figures_.packets));
  visit("wire_bytes", "bytes", "of packets sent, with headers", value(figures_.wire_bytes));
  visit("sending", "ns", "in which packets left on the wire", to_ns(figures_.sending));
  visit("lost", "packets", "of those sent that the wire has lost", value(figures_.lost));
  visit("placed", "bytes", "of peers' writes stored in memory, or added to it", value(figures_.placed));
  visit("acknowledgements", "packets", "received", value(figures_.acknowledgements));
  visit("resent", "packets", "sent again", value(figures_.resent));
  visit("dropped", "packets", "of peers that no queue pair was ready for", value(figures_.dropped));
  visit("errors", "events", "error interrupts raised", value(figures_.errors));
}

std::vector<std::string> Nic::diagnosis() const {
  std::vector<std::string> lines;
  for (std::size_t queue = 0; queue < queue_pairs_.size(); ++queue) {
    const QueuePair& pair = queue_pairs_[queue];
    if (pair.posted == pair.finished) continue;
    std::string line = fmt::format("NIC {}: queue pair {} has ended {} of {} work entries", number_, queue,
                                   pair.finished, pair.posted);
    if (!pair.messages.empty() && pair.messages.front().stage >= Message::Stage::fetched)
      line += fmt::format("; the next is a {} of {} bytes at {:#x}", name_of(pair.messages.front().entry.opcode()),
                          pair.messages.front().entry.bytes(), pair.messages.front().entry.head.remote_address);
    if (!pair.unacknowledged.empty())
      line += fmt::format("; packet {} is not acknowledged", pair.unacknowledged.front()->sequence);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace t3vp::nic
