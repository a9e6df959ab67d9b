#include "interconnect/torus_mirror.h"

#include <algorithm>

#include "interconnect/route_rules.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"

namespace t3vp::interconnect {

TorusMirror::TorusMirror(const sc_core::sc_module_name& name, std::vector<std::uint32_t> dimensions,
                         std::vector<std::uint32_t> neighbours)
    : sc_module(checked(name, MirroredGpus{dimensions})),
      dimensions_(std::move(dimensions)),
      neighbours_(std::move(neighbours)) {
  for (const std::uint32_t size : dimensions_) gpus_ *= size;
  for (std::size_t port = 0; port < neighbours_.size(); ++port) {
    const std::string number = std::to_string(port);
    in.push_back(std::make_unique<DataTargetSocket<TorusMirror>>(("in_" + number).c_str(), this, &TorusMirror::request,
                                                                 static_cast<int>(port)));
    out.push_back(std::make_unique<DataInitiatorSocket<TorusMirror>>(("out_" + number).c_str(), this,
                                                                     &TorusMirror::response, static_cast<int>(port)));
    in.back()->on_debug(&TorusMirror::debug);
    out.back()->on_taken(&TorusMirror::taken);
  }
}

/// The memory of a row's address may have been freed and allocated again.
void TorusMirror::add(const Parts& parts) {
  const auto overlaps = [&](const Parts& old) {
    return old.begin < parts.begin + parts.bytes && parts.begin < old.begin + old.bytes;
  };
  parts_.erase(std::remove_if(parts_.begin(), parts_.end(), overlaps), parts_.end());
  if (parts.row_bytes != 0 && parts.row_bytes % gpus_ == 0) parts_.push_back(parts);
}

std::uint32_t TorusMirror::seen_from(std::uint32_t origin, std::uint32_t gpu) const {
  std::uint32_t seen = 0, step = 1;
  for (const std::uint32_t size : dimensions_) {
    seen += (gpu / step + size - origin / step % size) % size * step;
    step *= size;
  }
  return seen;
}

/// A local address.
std::uint64_t TorusMirror::local_seen_from(std::uint32_t origin, std::uint64_t address) const {
  for (const Parts& parts : parts_) {
    if (address - parts.begin >= parts.bytes) continue;
    const std::uint64_t part_bytes = parts.row_bytes / gpus_, part = (address - parts.begin) / part_bytes;
    const auto owner = static_cast<std::uint32_t>(part % gpus_);
    return address + (std::uint64_t{seen_from(origin, owner)} - owner) * part_bytes;
  }
  return address;
}

void TorusMirror::request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const std::uint32_t origin = neighbours_[static_cast<std::size_t>(port)];
  const std::uint64_t address = transaction.get_address();
  const auto gpu = static_cast<std::uint32_t>(address_map::gpu_of(address));
  transaction.set_address(
      address_map::on_gpu(seen_from(origin, gpu), local_seen_from(origin, address_map::local_of(address))));
  Producer& producer = extension_of(transaction).producer;  // of a request: who is answered
  producer.gpu = static_cast<std::uint16_t>(seen_from(origin, std::uint32_t{producer.gpu}));
  out[static_cast<std::size_t>(port)]->send(transaction, delay);
}

void TorusMirror::taken(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  in[static_cast<std::size_t>(port)]->taken(transaction, delay);
}

void TorusMirror::response(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  in[static_cast<std::size_t>(port)]->respond(transaction, delay);
}

/// The GPU that stands for the owner has the same memory.
unsigned TorusMirror::debug(int port, tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  const std::uint32_t origin = neighbours_[static_cast<std::size_t>(port)];
  const auto gpu = static_cast<std::uint32_t>(address_map::gpu_of(address));
  transaction.set_address(address_map::on_gpu(seen_from(origin, gpu), address_map::local_of(address)));
  const unsigned bytes = (*out[static_cast<std::size_t>(port)])->transport_dbg(transaction);
  transaction.set_address(address);
  return bytes;
}

}  // namespace t3vp::interconnect
