#include "interconnect/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interconnect/packet.h"
#include "protocol/description.h"
#include "registers/status.h"

namespace t3vp::interconnect {

Link::Link(const sc_core::sc_module_name& name, const LinkParameters& parameters, std::uint16_t from, std::uint16_t to,
           Trace* trace)
    : sc_module(name), parameters_(parameters), from_(from), to_(to), trace_(trace) {
  if (trace_ != nullptr) track_ = trace_->track(fmt::format("GPU {}", from), fmt::format("link to GPU {}", to));
  in.report_to(errors, "link");
  in.on_debug(&Link::debug);
  out.on_taken(&Link::taken);
  SC_HAS_PROCESS(Link);
  SC_METHOD(step);
  sensitive << events_.event();
  dont_initialize();
}

void Link::request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  if (!is_packet(transaction)) {
    if (errors.size() != 0)
      errors->report("link", {static_cast<std::uint32_t>(Status::invalid_argument), transaction.get_address(),
                              describe(transaction) + ": links carry stores and updates only"});
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return in.respond(transaction, delay);
  }
  transaction.acquire();
  events_.push(now() + delay, {Event::arrival, &transaction, 0});
}

void Link::step() {
  while (events_.ready()) {
    const Event event = events_.pop();
    switch (event.what) {
      case Event::arrival:
        queue_.push_back(event.transaction);
        break;
      case Event::sent:
        finish(*event.transaction);
        break;
      case Event::credit:
        buffered_ -= event.bytes;
        break;
      case Event::answer:
        answer(static_cast<Transaction&>(*event.transaction));
        break;
    }
  }
  start();
  events_.arm();
}

/// A packet larger than the whole buffer may go when the buffer is empty.
void Link::start() {
  if (sending_ || queue_.empty()) return;
  tlm::tlm_generic_payload& transaction = *queue_.front();
  const std::uint64_t bytes = extension_of(transaction).shape.bytes();
  if (buffered_ != 0 && buffered_ + bytes > parameters_.receive_buffer_bytes) return;
  const LinkTraffic traffic = traffic_of(transaction);
  queue_.pop_front();
  buffered_ += bytes;
  sending_ = true;
  send_begin_ = now();
  begun_ += traffic;
  events_.push(now() + transfer_time(traffic.wire_bytes, parameters_.bandwidth_GBps), {Event::sent, &transaction, 0});
}

LinkTraffic Link::traffic_of(tlm::tlm_generic_payload& transaction) const {
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t bytes = extension.shape.bytes(), packets = packets_of(extension.shape);
  return {extension.traffic != TrafficClass::control ? bytes : 0, bytes + packets * parameters_.header_bytes, packets};
}

/// A packet has one address: rows that do not follow one another are packets of their own.
std::uint64_t Link::packets_of(const Shape& shape) const {
  const std::uint64_t most = parameters_.max_payload_bytes;
  if (most == 0) return 1;
  const bool is_one_run = shape.rows == 1 || shape.stride == shape.row_bytes;
  const std::uint64_t runs = is_one_run ? 1 : shape.rows, run_bytes = is_one_run ? shape.bytes() : shape.row_bytes;
  return runs * ((run_bytes + most - 1) / most);
}

void Link::finish(tlm::tlm_generic_payload& transaction) {
  const DataExtension& extension = extension_of(transaction);
  sending_ = false;
  busy_time_ += now() - send_begin_;
  const LinkTraffic traffic = traffic_of(transaction);
  sent_ += traffic;
  if (trace_ != nullptr && extension.producer.wf_id != no_wavefront)
    trace_->span(track_, "update", send_begin_, now(),
                 flow_of(extension.producer.gpu, extension.producer.wg_id, extension.producer.wf_id));
  else if (trace_ != nullptr)
    trace_->span(track_, "store", send_begin_, now());

  ++unanswered_;
  in.taken(transaction, 0);
  const bool drops = parameters_.drop_packet && *parameters_.drop_packet - packets_ < traffic.packets;
  packets_ += traffic.packets;
  if (drops) {  // neither its credits nor its response come back
    dropped_ = describe(transaction, now());
    return;
  }
  out.send(pool_.relay(transaction), parameters_.latency);
  transaction.release();  // the relay holds it
}

void Link::taken(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  events_.push(now() + delay + parameters_.latency, {Event::credit, nullptr, packet.get_data_length()});
}

void Link::response(int, tlm::tlm_generic_payload& packet, Picoseconds delay) {
  if (!extension_of(packet).taken) taken(0, packet, delay);
  events_.push(now() + delay + parameters_.latency, {Event::answer, &packet, 0});
}

void Link::answer(Transaction& packet) {
  --unanswered_;
  tlm::tlm_generic_payload& transaction = packet.end_relay();
  in.respond(transaction, 0);
  transaction.release();
}

std::vector<std::string> Link::diagnosis() const {
  std::vector<std::string> lines;
  const std::string self = fmt::format("Link from GPU {} to GPU {}", from_, to_);
  if (!queue_.empty())
    lines.push_back(
        fmt::format("{}: {} packets wait for credits, the first is the {}; {} of the receive buffer's {} "
                    "bytes are taken",
                    self, queue_.size(), describe(*queue_.front()), buffered_, parameters_.receive_buffer_bytes));
  if (unanswered_ != 0)
    lines.push_back(fmt::format("{}: {} packets that have left are not acknowledged by GPU {}{}", self, unanswered_,
                                to_, dropped_.empty() ? "" : ", one of them was lost"));
  return lines;
}

}  // namespace t3vp::interconnect
