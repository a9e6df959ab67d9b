// Loads and fetch-and-adds that cross links: requests, the memory that serves them, and answers.
#include <fmt/format.h>

#include <algorithm>

#include "interconnect/fabric_port.h"
#include "interconnect/link_packet.h"
#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/gpu_name.h"
#include "protocol/response_status.h"

namespace t3vp::interconnect {

/// A read of a peer's memory leaves as a request, which has no data: they are left where the read has its place.
void FabricPort::ask(tlm::tlm_generic_payload& read, int source, const Hop& hop, Picoseconds delay) {
  const std::uint64_t address = read.get_address();
  if (!address_map::is_hbm(address)) {
    registers.report(Status::access_denied, address,
                     fmt::format("{}: memory of {} expected, whose registers nobody else reads", describe(read),
                                 gpu_name(address_map::gpu_of(address))));
    read.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return answer(source, read, delay);
  }
  if (extension_of(read).operation == Operation::fetch_add && address_map::gpu_of(address) == address_map::all_gpus) {
    registers.report(Status::access_denied, address,
                     describe(read) + ": one GPU's memory expected, a switch reads the sum of all and writes them");
    read.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return answer(source, read, delay);
  }
  if (extension_of(read).made < generation_since_) {
    refuse_of_an_earlier_generation(read);
    return answer(source, read, delay);
  }
  read.acquire();  // until it is answered; its request holds it too
  reads_.push_back({&read, source});
  Transaction& request = pool_.relay(read);
  request.set_command(tlm::TLM_WRITE_COMMAND);
  request.set_data_ptr(nullptr);
  DataExtension& extension = request.extension();
  extension.operation = Operation::request;
  extension.fabric.asked = &read;
  extension.traffic = TrafficClass::control;
  extension.producer = {no_workgroup, no_wavefront, gpu_};
  extension.fabric.sender_generation_since = &generation_since_;
  extension.fabric.source = gpu_;
  extension.fabric.lane = {channel_of(hop, request), 0};
  pending_.add({&request, source});
  egress[hop.port]->send(request, delay);
}

/// A refusal of a request comes with its response. The read's response, if there is one, comes separately.
void FabricPort::asked(Transaction& request, Picoseconds delay) {
  tlm::tlm_generic_payload& read = request.original();
  if (request.is_response_error()) {
    read.set_response_status(request.get_response_status());
    extension_of(read).refusal = request.extension().refusal;
    end_read(read, delay);
  }
  request.release();
  read.release();
}

void FabricPort::end_read(tlm::tlm_generic_payload& read, Picoseconds delay) {
  const auto found =
      std::find_if(reads_.begin(), reads_.end(), [&](const Pending& own) { return own.transaction == &read; });
  if (found == reads_.end())
    return registers.report(Status::invalid_argument, read.get_address(), "an answer to nothing that was asked");
  const int source = found->source;
  reads_.erase(found);
  answer(source, read, delay);
  read.release();
}

void FabricPort::serve(tlm::tlm_generic_payload& request, int source, Picoseconds delay) {
  const DataExtension& asked = extension_of(*extension_of(request).fabric.asked);
  Transaction& read = pool_.make(asked.operation, request.get_address(), asked.shape);
  read.set_data_ptr(extension_of(request).fabric.asked->get_data_ptr());
  DataExtension& extension = read.extension();
  extension.stream = Stream::communication;
  extension.cached = false;
  extension.traffic = asked.traffic;
  extension.element = asked.element;
  extension.addend = asked.addend;
  extension.real = asked.real;
  extension.made = asked.made;
  extension.fabric.sender_generation_since = extension_of(request).fabric.sender_generation_since;
  extension.fabric.source = extension_of(request).fabric.source;
  extension.fabric.lane.channel = extension_of(request).fabric.lane.channel;
  hand_over({&read, source, &request});
  memory.send(read, delay);
}

void FabricPort::served(Transaction& read, tlm::tlm_generic_payload& request, int source, Picoseconds delay) {
  if (read.extension().operation == Operation::load && is_of_an_earlier_generation(read.extension(), generation_since_))
    refuse_of_an_earlier_generation(read);
  const bool refused = read.is_response_error();
  if (refused) {
    request.set_response_status(read.get_response_status());
    extension_of(request).refusal = static_cast<std::uint32_t>(status_of_data_access(read));
  }
  read.release();
  if (refused) return answer(source, request, delay);
  send_answer(request, source, delay);
}

/// The request keeps its place until the answer has left.
void FabricPort::send_answer(tlm::tlm_generic_payload& request, int source, Picoseconds delay) {
  const DataExtension& of_request = extension_of(request);
  const std::uint16_t to = of_request.producer.gpu;
  const Hop hop = to == gpu_ ? route_.all : hop_to(route_, to);  // its own part of a sum goes to the switch as well
  if (hop.port == no_port) {
    registers.report(Status::no_peer, request.get_address(),
                     fmt::format("{}: no link leads back to GPU {}", describe(request), to));
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return answer(source, request, delay);
  }
  Transaction& answer = pool_.make(
      Operation::answer, address_map::on_gpu(to, address_map::local_of(request.get_address())), of_request.shape);
  answer.generation = static_cast<std::uint32_t>(source);
  DataExtension& extension = answer.extension();
  extension.stream = Stream::communication;
  extension.cached = false;
  extension.fabric.asked = of_request.fabric.asked;
  extension.fabric.stand_in = of_request.fabric.stand_in;
  extension.traffic = extension_of(*of_request.fabric.asked).traffic;
  extension.fabric.lane = {channel_of(hop, answer), 0};
  if (extension.traffic != TrafficClass::control) sent_[hop.port] += extension.shape.bytes();
  pending_.add({&answer, own_answers, &request});
  egress[hop.port]->send(answer, delay);
}

/// Called by its notice, or by its response when there was no notice.
void FabricPort::answer_left(Transaction& answer, tlm::tlm_generic_payload*& request, Picoseconds delay) {
  if (request == nullptr) return;
  tlm::tlm_generic_payload& served = *request;
  request = nullptr;
  const tlm::tlm_response_status status = answer.get_response_status();
  served.set_response_status(status == tlm::TLM_INCOMPLETE_RESPONSE ? tlm::TLM_OK_RESPONSE : status);
  this->answer(static_cast<int>(answer.generation), served, delay);
}

/// The read has the place for its data.
void FabricPort::take_answer(tlm::tlm_generic_payload& answer, int source, Picoseconds delay) {
  const DataExtension& extension = extension_of(answer);
  tlm::tlm_generic_payload& read = *extension.fabric.asked;
  if (extension.traffic != TrafficClass::control)
    received_[static_cast<std::size_t>(source - first_ingress)] += extension.shape.bytes();
  answer.set_response_status(tlm::TLM_OK_RESPONSE);
  this->answer(source, answer, delay);
  read.set_response_status(tlm::TLM_OK_RESPONSE);
  end_read(read, delay);
}

void FabricPort::tell_reads(std::vector<std::string>& lines) const {
  for (const auto& [source, name] : {std::pair{from_compute, "compute units"}, std::pair{from_dma, "DMA engine"}}) {
    std::size_t count = 0;
    const tlm::tlm_generic_payload* first = nullptr;
    for (const Pending& read : reads_) {
      if (read.source != source) continue;
      if (first == nullptr) first = read.transaction;
      ++count;
    }
    if (count != 0)
      lines.push_back(
          fmt::format("GPU {} links: {} loads and fetch-and-adds of its {} wait for other GPUs' answers; "
                      "one is the {}",
                      gpu_, count, name, describe(*first)));
  }
  std::size_t count = 0;
  const tlm::tlm_generic_payload* first = nullptr;
  for (const Pending& pending : pending_) {
    if (pending.source != own_answers || pending.request == nullptr) continue;
    if (first == nullptr) first = pending.transaction;
    ++count;
  }
  if (count != 0)
    lines.push_back(fmt::format("GPU {} links: {} answers to other GPUs wait for a link; one is the {}", gpu_, count,
                                describe(*first)));
}

}  // namespace t3vp::interconnect
