#include "interconnect/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interconnect/packet.h"
#include "protocol/description.h"

namespace t3vp {

Link::Link(const sc_core::sc_module_name& name, const LinkParameters& parameters, std::uint16_t from, std::uint16_t to,
           Trace* trace)
    : sc_module(name), parameters_(parameters), from_(from), to_(to), trace_(trace) {
  if (trace_ != nullptr) track_ = trace_->track(fmt::format("GPU {}", from), fmt::format("link to GPU {}", to));
  in.register_nb_transport_fw(this, &Link::request, 0);
  out.register_nb_transport_bw(this, &Link::response, 0);
  SC_HAS_PROCESS(Link);
  SC_METHOD(step);
  sensitive << events_.event();
  dont_initialize();
}

tlm::tlm_sync_enum Link::request(int, tlm::tlm_generic_payload& transaction, tlm::tlm_phase&, sc_core::sc_time& delay) {
  if (!is_packet(transaction)) {
    transaction.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    send_response(in, transaction, from_sc_time(delay));
    return tlm::TLM_ACCEPTED;
  }
  transaction.acquire();
  events_.push(now() + from_sc_time(delay), {Event::arrival, &transaction, 0});
  return tlm::TLM_ACCEPTED;
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
  queue_.pop_front();
  buffered_ += bytes;
  sending_ = true;
  send_begin_ = now();
  count(transaction, begun_);
  events_.push(now() + transfer_time(bytes + parameters_.header_bytes, parameters_.bandwidth_GBps),
               {Event::sent, &transaction, 0});
}

void Link::count(tlm::tlm_generic_payload& transaction, LinkTraffic& traffic) const {
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t bytes = extension.shape.bytes();
  if (extension.producer.wg_id != no_workgroup) traffic.payload_bytes += bytes;
  traffic.wire_bytes += bytes + parameters_.header_bytes;
  ++traffic.packets;
}

void Link::finish(tlm::tlm_generic_payload& transaction) {
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t bytes = extension.shape.bytes();
  sending_ = false;
  busy_time_ += now() - send_begin_;
  count(transaction, sent_);
  if (trace_ != nullptr && extension.producer.wf_id != no_wavefront)
    trace_->span(track_, "update", send_begin_, now(),
                 flow_of(extension.producer.gpu, extension.producer.wg_id, extension.producer.wf_id));
  else if (trace_ != nullptr)
    trace_->span(track_, "store", send_begin_, now());

  if (packets_++ == parameters_.drop_packet) {  // its credits do not come back either
    dropped_ = described(transaction, now());
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    send_response(in, transaction, 0);
    return transaction.release();
  }

  Transaction& packet = pool_.make(extension.operation, transaction.get_address(), extension.shape);
  packet.extension() = extension;
  packet.extension().token = bytes;
  if (const unsigned char* data = transaction.get_data_ptr()) {
    packet.attach_buffer();
    std::memcpy(packet.get_data_ptr(), data, bytes);
  }
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  send_response(in, transaction, 0);
  transaction.release();
  Picoseconds delay = parameters_.latency;
  send_request(out, packet, delay);
}

tlm::tlm_sync_enum Link::response(int, tlm::tlm_generic_payload& transaction, tlm::tlm_phase&,
                                  sc_core::sc_time& delay) {
  events_.push(now() + from_sc_time(delay) + parameters_.latency,
               {Event::credit, nullptr, extension_of(transaction).token});
  transaction.release();
  return tlm::TLM_COMPLETED;
}

}  // namespace t3vp
