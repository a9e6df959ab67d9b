#include "interconnect/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "interconnect/link_packet.h"
#include "interconnect/links_ranges.h"
#include "protocol/access_description.h"
#include "protocol/checked_parameters.h"
#include "registers/status.h"

namespace t3vp::interconnect {
namespace {
constexpr std::uint64_t sector_bytes = 32;  // the least that a packet of an update carries
}

Link::Link(const sc_core::sc_module_name& name, const LinkParameters& parameters, const LinkEnd& from,
           const LinkEnd& to, Trace* trace)
    : sc_module(checked(name, parameters)), parameters_(parameters), from_(from), to_(to), trace_(trace) {
  if (trace_ != nullptr) track_ = trace_->track(from.text(), "link to " + to.text());
  in.report_to(errors, "link");
  in.on_debug(&Link::debug);
  out.on_taken(&Link::taken);
}

void Link::request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (!is_packet(transaction)) {
    if (errors.size() != 0)
      errors->report("link", {static_cast<std::uint32_t>(Status::invalid_argument), transaction.get_address(),
                              describe(transaction) + ": links carry stores, updates, requests and answers only"});
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return in.respond(transaction, delay);
  }
  transaction.acquire();
  events_.push(now() + delay, {Event::arrival, &transaction, 0, 0});
}

void Link::step() {
  by_credit_ = false;
  while (events_.ready()) {
    const Event event = events_.pop();
    by_credit_ = by_credit_ || event.what == Event::credit;
    switch (event.what) {
      case Event::arrival:
        queue_of(extension_of(*event.transaction).fabric.lane).packets.push_back({event.transaction, now()});
        break;
      case Event::sent:
        if (event.bytes == slice_) slice_sent();
        break;
      case Event::credit:
        buffered_[event.channel] -= event.bytes;
        credits_.push_back({now(), event.bytes, event.channel});
        break;
      case Event::answer:
        answer(static_cast<Transaction&>(*event.transaction));
        break;
    }
  }
  if (sending_)
    shorten();
  else
    start();
  events_.arm();
}

/// Queues are in the order of their lanes, whoever has come first: among several at one time it is the same that goes.
Link::Queue& Link::queue_of(const Lane& lane) {
  const auto place =
      std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) { return !(queue.lane < lane); });
  if (place != queues_.end() && place->lane == lane) return *place;
  if (buffered_.size() <= lane.channel) buffered_.resize(lane.channel + 1u, 0);
  const auto index = static_cast<std::size_t>(place - queues_.begin());
  if (sending_ && index <= served_) ++served_;
  if (index < next_) ++next_;
  return *queues_.insert(place, {lane, {}});
}

/// A packet larger than the whole buffer may go when the buffer is empty.
bool Link::has_room(tlm::tlm_generic_payload& packet, std::uint64_t buffered) const {
  return buffered == 0 || buffered + buffered_by(packet) <= parameters_.receive_buffer_bytes;
}

bool Link::may_go(const Queue& queue) const {
  if (queue.packets.empty()) return false;
  return queue.left != 0 || has_room(*queue.packets.front().packet, buffered_[queue.lane.channel]);
}

/// Returns whether another packet would go, by priority or round-robin, before the rest of the packet in flight.
bool Link::another_may_go() const {
  for (std::size_t i = 0; i < queues_.size(); ++i)
    if (i != served_ && may_go(queues_[i]) && (passes_through(queues_[i]) || !passes_through(queues_[served_])))
      return true;
  return false;
}

std::optional<std::size_t> Link::next_to_go() const {
  std::optional<std::size_t> own;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const std::size_t queue = (next_ + i) % queues_.size();
    if (!may_go(queues_[queue])) continue;
    if (passes_through(queues_[queue])) return queue;
    if (!own) own = queue;
  }
  return own;
}

/// The next queue in round-robin order sends.
void Link::start() {
  const std::optional<std::size_t> next = next_to_go();
  if (!next) {
    if (counters_.stalled_since == never && is_anyone_waiting()) {
      changing_counters().stalled_since = now();
      stall_cause_ = Cause::current();
    }
    return;
  }
  Queue& queue = queues_[*next];
  served_ = *next;
  next_ = *next + 1;
  const Picoseconds from = queue.left == 0 ? begin(queue) : now();
  sending_ = true;
  slice_cause_ = Cause::current();
  if (counters_.stalled_since != never) {
    Counters& counters = changing_counters();
    counters.stalled += now() - std::exchange(counters.stalled_since, never);
    if (by_credit_) {  // the path stays with the packet
      slice_cause_ = std::move(stall_cause_);
      slice_cause_.extend(now(), Part::link_credits);
    }
  }
  send_slice(from, queue.left);
  shorten();
}

/// A packet that comes in as the link is free may have begun as its first part came, if there were credits.
Picoseconds Link::first_possible(const Queue& queue) const {
  const auto [packet, since] = queue.packets.front();
  if (since != now()) return now();
  const Picoseconds head = std::max(now() - std::min(now(), extension_of(*packet).fabric.lead), idle_since_);
  std::uint64_t buffered = buffered_[queue.lane.channel];
  for (auto credit = credits_.rbegin(); credit != credits_.rend() && credit->time > head; ++credit) {
    if (credit->channel != queue.lane.channel) continue;
    buffered += credit->bytes;
    if (!has_room(*packet, buffered)) return credit->time;
  }
  return head;
}

/// The first byte of the queue's first packet leaves, or has left: returns when.
Picoseconds Link::begin(Queue& queue) {
  const auto [packet, since] = queue.packets.front();
  LinkTraffic traffic = traffic_of(*packet);
  queue.left = traffic.wire_bytes;
  queue.begun = first_possible(queue);
  buffered_[queue.lane.channel] += buffered_by(*packet);
  queue.waited = traffic.waited = now() - since;
  changing_counters().begun += traffic;
  return queue.begun;
}

bool Link::is_anyone_waiting() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const Queue& queue) { return !queue.packets.empty(); });
}

/// A stall that has not ended counts up to that time.
LinkTraffic Link::with_stall(LinkTraffic traffic, const Counters& counters, Picoseconds time) {
  traffic.stalled =
      counters.stalled + (counters.stalled_since == never ? 0 : std::min(time, now()) - counters.stalled_since);
  return traffic;
}

Link::Counters& Link::changing_counters() {
  recent_counters_.keep(counters_);
  return counters_;
}

LinkTraffic Link::begun_before(Picoseconds time) const {
  const Counters& counters = recent_counters_.before(time, counters_);
  return with_stall(counters.begun, counters, time);
}

LinkTraffic Link::sent_before(Picoseconds time) const {
  const Counters& counters = recent_counters_.before(time, counters_);
  return with_stall(counters.sent, counters, time);
}

/// A slice ends after the time of its bytes. A train that has begun before all of it has arrived ends one packet from
/// now at the earliest.
void Link::send_slice(Picoseconds begin, std::uint64_t bytes) {
  tlm::tlm_generic_payload& transaction = *queues_[served_].packets.front().packet;
  slice_begin_ = begin;
  slice_bytes_ = bytes;
  Picoseconds end = begin + transfer_time(bytes, parameters_.bandwidth_GBps);
  if (bytes == queues_[served_].left && begin < now()) end = std::max(end, now() + time_of_one_packet(transaction));
  Cause cause = slice_cause_;
  cause.extend(end, Part::link_serialization);
  events_.push(end, {Event::sent, &transaction, ++slice_, 0}, std::move(cause));
}

/// When others may go, the packet in flight continues to the next multiple of arbitration_bytes.
void Link::shorten() {
  const std::uint64_t quantum = parameters_.arbitration_bytes;
  if (quantum == 0 || slice_bytes_ <= quantum || !another_may_go()) return;
  const Picoseconds time = transfer_time(quantum, parameters_.bandwidth_GBps);
  const std::uint64_t quanta = (now() - slice_begin_ + time - 1) / std::max<Picoseconds>(time, 1);
  const std::uint64_t bytes = std::max<std::uint64_t>(quanta, 1) * quantum;
  if (bytes < slice_bytes_) send_slice(slice_begin_, bytes);
}

void Link::slice_sent() {
  Queue& queue = queues_[served_];
  tlm::tlm_generic_payload& transaction = *queue.packets.front().packet;
  sending_ = false;
  busy_time_ += now() - slice_begin_;
  idle_since_ = now();
  credits_.clear();
  if (trace_ != nullptr) {
    const Operation operation = extension_of(transaction).operation;
    const Producer& producer = extension_of(transaction).producer;
    if (operation == Operation::request || operation == Operation::answer)
      trace_->span(track_, name_of(operation), slice_begin_, now());
    else if (producer.wf_id != no_wavefront)
      trace_->span(track_, "update", slice_begin_, now(), flow_of(producer.gpu, producer.wg_id, producer.wf_id));
    else
      trace_->span(track_, "store", slice_begin_, now());
  }
  queue.left -= slice_bytes_;
  if (queue.left != 0) return;
  queue.packets.pop_front();
  changing_counters().sent.waited += queue.waited;
  const Picoseconds first_sent = queue.begun + time_of_one_packet(transaction);
  finish(transaction, first_sent < now() ? now() - first_sent : 0);
}

LinkTraffic Link::traffic_of(tlm::tlm_generic_payload& transaction) const {
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t bytes = payload_bytes_of(transaction), packets = packets_of(extension);
  const std::uint64_t carried = is_half_update(extension) ? std::max(bytes, packets * sector_bytes) : bytes;
  return {extension.traffic != TrafficClass::control ? bytes : 0,
          carried + packets * parameters_.header_bytes,
          packets,
          1,
          0,
          0};
}

bool Link::is_half_update(const DataExtension& extension) const {
  return parameters_.half_update_bytes != 0 && extension.operation == Operation::update &&
         bytes_of(extension.element) == 2;
}

std::uint64_t Link::payload_limit(const DataExtension& extension) const {
  return is_half_update(extension) ? parameters_.half_update_bytes : parameters_.max_payload_bytes;
}

/// A packet has one address: rows that do not follow one another are packets of their own.
std::uint64_t Link::packets_of(const DataExtension& extension) const {
  const Shape& shape = extension.shape;
  const std::uint64_t most = payload_limit(extension);
  if (most == 0) return 1;
  const bool is_one_run = shape.rows == 1 || shape.stride == shape.row_bytes;
  const std::uint64_t runs = is_one_run ? 1 : shape.rows, run_bytes = is_one_run ? shape.bytes() : shape.row_bytes;
  return runs * ((run_bytes + most - 1) / most);
}

/// Returns the bytes of the receive buffer that the packet uses until the far end has taken it.
std::uint64_t Link::buffered_by(tlm::tlm_generic_payload& transaction) const {
  const DataExtension& extension = extension_of(transaction);
  return extension.operation == Operation::request ? packets_of(extension) * request_bytes : extension.shape.bytes();
}

/// Returns the time of the first packet; no packet is larger.
Picoseconds Link::time_of_one_packet(tlm::tlm_generic_payload& transaction) const {
  const LinkTraffic all = traffic_of(transaction);
  const std::uint64_t most = payload_limit(extension_of(transaction));
  const std::uint64_t payload = all.wire_bytes - all.packets * parameters_.header_bytes;
  const std::uint64_t first = most == 0 ? payload : std::min<std::uint64_t>(payload, most);
  return transfer_time(first + parameters_.header_bytes, parameters_.bandwidth_GBps);
}

void Link::finish(tlm::tlm_generic_payload& transaction, Picoseconds lead) {
  const LinkTraffic traffic = traffic_of(transaction);
  changing_counters().sent += traffic;
  ++unanswered_;
  in.taken(transaction, 0);
  const bool drops = parameters_.drop_packet && *parameters_.drop_packet - packets_ < traffic.packets;
  packets_ += traffic.packets;
  if (drops) {  // neither its credits nor its response come back
    dropped_ = describe(transaction, now());
    return;
  }
  Transaction& relay = pool_.relay(transaction);
  relay.generation = extension_of(transaction).fabric.lane.channel;  // the next link has its own lane for it
  relay.extension().fabric.lead = lead;
  const Picoseconds time = now() + parameters_.latency;
  Crossing crossing{time, cause_at(time, Part::link_latency)};
  if (boundary_ != nullptr)
    boundary_->send_packet(std::move(crossing), relay);
  else
    arrive(std::move(crossing), relay);
  transaction.release();  // the relay holds it
}

void Link::arrive(Crossing crossing, Transaction& packet) {
  arrivals_.push(crossing.time, &packet, std::move(crossing.cause));
}

void Link::deliver() {
  while (arrivals_.ready()) out.send(*arrivals_.pop(), 0);
  arrivals_.arm();
}

void Link::taken(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  const Picoseconds time = now() + delay + parameters_.latency;
  Crossing crossing{time, cause_at(time, Part::link_credits)};
  const auto channel = static_cast<std::uint8_t>(static_cast<Transaction&>(packet).generation);
  if (boundary_ != nullptr)
    boundary_->send_credit(std::move(crossing), buffered_by(packet), channel);
  else
    credited(std::move(crossing), buffered_by(packet), channel);
}

void Link::credited(Crossing crossing, std::uint64_t bytes, std::uint8_t channel) {
  events_.push(crossing.time, {Event::credit, nullptr, bytes, channel}, std::move(crossing.cause), From::afar);
}

void Link::response(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  if (!extension_of(packet).taken) taken(0, packet, delay);
  const Picoseconds time = now() + delay + parameters_.latency;
  Crossing crossing{time, cause_at(time, Part::link_latency)};
  if (boundary_ != nullptr)
    boundary_->send_answer(std::move(crossing), static_cast<Transaction&>(packet));
  else
    answered(std::move(crossing), static_cast<Transaction&>(packet));
}

void Link::answered(Crossing crossing, Transaction& packet) {
  events_.push(crossing.time, {Event::answer, &packet, 0, 0}, std::move(crossing.cause), From::afar);
}

void Link::answer(Transaction& packet) {
  --unanswered_;
  tlm::tlm_generic_payload& transaction = packet.end_relay();
  in.respond(transaction, 0);
  transaction.release();
}

std::vector<std::string> Link::diagnosis() const {
  std::vector<std::string> lines;
  const std::string self = fmt::format("Link from {} to {}", from_.text(), to_.text());
  for (std::size_t channel = 0; channel < buffered_.size(); ++channel) {
    std::size_t waiting = 0;
    const tlm::tlm_generic_payload* first = nullptr;
    for (const Queue& queue : queues_) {
      if (queue.lane.channel != channel || queue.packets.empty()) continue;
      if (first == nullptr) first = queue.packets.front().packet;
      waiting += queue.packets.size();
    }
    if (waiting != 0)
      lines.push_back(
          fmt::format("{}{}: {} packets wait for credits, the first is the {}; {} of the receive buffer's {} "
                      "bytes are taken",
                      self, channel == 0 ? "" : fmt::format(", channel {}", channel), waiting, describe(*first),
                      buffered_[channel], parameters_.receive_buffer_bytes));
  }
  if (unanswered_ != 0)
    lines.push_back(fmt::format("{}: {} packets that have left are not acknowledged by {}{}", self, unanswered_,
                                to_.text(), dropped_.empty() ? "" : ", one of them was lost"));
  return lines;
}

}  // namespace t3vp::interconnect
