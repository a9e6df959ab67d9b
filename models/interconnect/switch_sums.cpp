// Loads of all GPUs that a switch joins: it asks each of them, and adds what they answer. Loads of one GPU's bytes by
// several others: it asks once.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interconnect/link_packet.h"
#include "interconnect/switch.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/element.h"

namespace t3vp::interconnect {
namespace {

/// In fp32, rounded once.
void add_all(ElementType element, const std::vector<Transaction*>& parts, tlm::tlm_generic_payload& sum) {
  const std::size_t count = sum.get_data_length() / bytes_of(element);
  std::vector<float> total(count, 0), addend(count);
  for (Transaction* const part : parts) {
    widen_elements(element, part->get_data_ptr(), addend.data(), count);
    for (std::size_t i = 0; i < count; ++i) total[i] += addend[i];
  }
  narrow_elements(element, total.data(), sum.get_data_ptr(), count);
}

}  // namespace

void Switch::ask(std::size_t receiver, tlm::tlm_generic_payload& request, const std::vector<std::uint32_t>& gpus,
                 Picoseconds delay) {
  tlm::tlm_generic_payload& read = *extension_of(request).fabric.asked;
  const DataExtension& asked = extension_of(read);
  if (asked.operation != Operation::load || asked.shape.row_bytes % bytes_of(asked.element) != 0)
    return refuse(receiver, request, tlm::TLM_COMMAND_ERROR_RESPONSE, delay);
  request.acquire();
  sums_.push_back({&request, receiver, {}, gpus.size(), gpus.size()});
  Sum& sum = sums_.back();
  const std::uint64_t local = address_map::local_of(request.get_address());
  for (const std::uint32_t gpu : gpus) {
    const std::uint64_t address = address_map::on_gpu(gpu, local);
    Transaction& part = pool_.make(Operation::load, address, asked.shape);
    part.extension().element = asked.element;
    part.extension().traffic = asked.traffic;
    part.extension().made = asked.made;
    if (read.get_data_ptr() != nullptr) part.attach_buffer();
    sum.parts.push_back(&part);
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    Transaction& relay = pool_.relay(request);
    const Hop hop = hop_to(route_, gpus[i]);
    relay.generation = static_cast<std::uint32_t>(receiver);
    relay.set_address(sum.parts[i]->get_address());
    relay.extension().fabric.asked = sum.parts[i];
    relay.extension().fabric.lane = {channel_of(hop, request), static_cast<std::uint16_t>(receiver + 1)};
    egress[hop.port]->send(relay, delay + latency_);
  }
}

void Switch::fetch_once(std::size_t receiver, tlm::tlm_generic_payload& request, Picoseconds delay) {
  const tlm::tlm_generic_payload& read = *extension_of(request).fabric.asked;
  const Shape& shape = read.get_extension<DataExtension>()->shape;
  for (Sum& sum : sums_) {
    const Shape& other = sum.parts[0]->extension().shape;
    const bool is_same = sum.is_open && sum.parts[0]->get_address() == request.get_address() &&
                         other.rows == shape.rows && other.row_bytes == shape.row_bytes &&
                         other.stride == shape.stride &&
                         (sum.parts[0]->get_data_ptr() == nullptr) == (read.get_data_ptr() == nullptr);
    if (!is_same) continue;
    request.acquire();
    sum.latest = std::max(sum.latest, now() + delay);
    return sum.joined.push_back({&request, receiver});
  }
  const std::size_t before = sums_.size();
  ask(receiver, request, {static_cast<std::uint32_t>(address_map::gpu_of(request.get_address()))}, delay);
  if (sums_.size() != before) sums_.back().is_open = true;
}

/// No load joins one that may have been served before the write, or before what the write tells of.
void Switch::close_loads(tlm::tlm_generic_payload& write) {
  const DataExtension& extension = extension_of(write);
  if (extension.operation != Operation::store && extension.operation != Operation::update) return;
  const std::uint64_t to = address_map::gpu_of(write.get_address());
  for (Sum& sum : sums_) {
    const std::uint64_t owner = address_map::gpu_of(sum.parts[0]->get_address());
    if (to == owner || to == address_map::all_gpus || extension.fabric.source == owner) sum.is_open = false;
  }
}

Switch::Sum* Switch::sum_of(const tlm::tlm_generic_payload& request) {
  for (Sum& sum : sums_)
    if (sum.request == &request) return &sum;
  return nullptr;
}

Switch::Sum* Switch::sum_with(const tlm::tlm_generic_payload* part) {
  for (Sum& sum : sums_)
    if (std::find(sum.parts.begin(), sum.parts.end(), part) != sum.parts.end()) return &sum;
  return nullptr;
}

void Switch::take_part(Sum& sum, std::size_t receiver, tlm::tlm_generic_payload& answer, Picoseconds delay) {
  answer.set_response_status(tlm::TLM_OK_RESPONSE);
  ingress[receiver]->respond(answer, delay);
  sum.latest = std::max(sum.latest, now() + delay);
  --sum.missing;
  end_if_complete(sum);
}

/// A block that refuses a request sends no data.
void Switch::part_asked(Sum& sum, Transaction& relay, Picoseconds delay) {
  if (relay.is_response_error()) {
    sum.status = relay.get_response_status();
    sum.refusal = relay.extension().refusal;
    --sum.missing;
  }
  tlm::tlm_generic_payload& request = relay.original();
  relay.release();
  request.release();
  sum.latest = std::max(sum.latest, now() + delay);
  --sum.asked;
  end_if_complete(sum);
}

void Switch::end_if_complete(Sum& sum) {
  if (sum.asked != 0 || sum.missing != 0) return;
  const Sum ended = sum;
  sums_.remove_if([&](const Sum& other) { return &other == &sum; });
  if (ended.status == tlm::TLM_OK_RESPONSE) send_sum(ended);
  for (Transaction* const part : ended.parts) part->release();
  std::vector<Asked> all{{ended.request, ended.receiver}};
  all.insert(all.end(), ended.joined.begin(), ended.joined.end());
  for (const Asked& asked : all) {
    asked.request->set_response_status(ended.status);
    extension_of(*asked.request).refusal = ended.refusal;
    ended_.push(now(), {asked.request, asked.receiver, ended.latest + latency_});
  }
}

/// The last part may have come by the request's own socket, whose call has returned by now.
void Switch::respond_to_ended() {
  while (ended_.ready()) {
    const Ended ended = ended_.pop();
    ingress[ended.receiver]->respond(*ended.request, ended.at - now());
    ended.request->release();
  }
  ended_.arm();
}

void Switch::send_sum(const Sum& sum) {
  send_answer(sum, {sum.request, sum.receiver});
  for (const Asked& asked : sum.joined) send_answer(sum, asked);
}

void Switch::send_answer(const Sum& sum, const Asked& whom) {
  const DataExtension& of_request = extension_of(*whom.request);
  tlm::tlm_generic_payload& read = *of_request.fabric.asked;
  const DataExtension& asked = extension_of(read);
  const bool has_data = read.get_data_ptr() != nullptr;
  if (has_data && sum.parts.size() == 1)
    std::memcpy(read.get_data_ptr(), sum.parts[0]->get_data_ptr(), read.get_data_length());
  else if (has_data)
    add_all(asked.element, sum.parts, read);
  const std::uint16_t to = of_request.producer.gpu;
  const Hop hop = hop_to(route_, to);
  Transaction& answer =
      pool_.make(Operation::answer, address_map::on_gpu(to, address_map::local_of(read.get_address())), asked.shape);
  answer.generation = own;
  DataExtension& extension = answer.extension();
  extension.stream = Stream::communication;
  extension.cached = false;
  extension.fabric.asked = &read;
  extension.fabric.stand_in = of_request.fabric.stand_in;
  extension.traffic = asked.traffic;
  extension.fabric.lane = {channel_of(hop, answer), static_cast<std::uint16_t>(whom.receiver + 1)};
  egress[hop.port]->send(answer, sum.latest - now() + latency_);
}

std::vector<std::string> Switch::diagnosis() const {
  std::vector<std::string> lines;
  for (const Sum& sum : sums_)
    lines.push_back(fmt::format("{}: the sum of {} GPUs for the {} waits for {} of their answers", name(),
                                sum.parts.size(), describe(*extension_of(*sum.request).fabric.asked), sum.missing));
  return lines;
}

}  // namespace t3vp::interconnect
