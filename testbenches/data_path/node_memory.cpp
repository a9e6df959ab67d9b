#include "data_path/node_memory.h"

#include <cstring>
#include <string>

#include "protocol/address_map.h"
#include "protocol/element.h"
#include "registers/signals.h"

namespace t3vp {
namespace {

constexpr std::uint64_t signals_base = address_map::block_base(address_map::Block::signals);

}  // namespace

NodeMemory::NodeMemory(const sc_core::sc_module_name& name, int port_count, std::uint16_t gpus,
                       std::uint64_t bytes_per_gpu)
    : sc_module(name),
      bytes_per_gpu_(bytes_per_gpu),
      memories_(gpus, std::vector<unsigned char>(bytes_per_gpu)),
      signals_(gpus, std::vector<std::uint64_t>(registers::Signals::value_count)) {
  for (int port = 0; port < port_count; ++port) {
    ports.push_back(std::make_unique<DataTargetSocket<NodeMemory>>(("port_" + std::to_string(port)).c_str(), this,
                                                                   &NodeMemory::request, port));
    ports.back()->on_debug(&NodeMemory::debug);
    ports.back()->expect({false, false, true});
  }
}

unsigned char* NodeMemory::at(std::uint64_t address) {
  return memories_.at(address_map::gpu_of(address)).data() + address_map::local_of(address);
}

void NodeMemory::request(int port, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  LoggedAccess access;
  access.port = port;
  access.arrival = now() + delay;
  access.address = transaction.get_address();
  access.status_on_entry = transaction.get_response_status();
  access.has_data = transaction.get_data_ptr() != nullptr;
  const DataExtension& extension = extension_of(transaction);
  access.operation = extension.operation;
  access.shape = extension.shape;
  access.traffic = extension.traffic;
  access.element = extension.element;
  access.cached = extension.cached;
  access.producer = extension.producer;
  access.threshold = extension.threshold;
  access.ring = extension.ring;
  log.push_back(access);
  if (observe) observe(access);
  transaction.acquire();
  events_.push(access.arrival, {port, false, &transaction, judge ? judge(access) : tlm::TLM_OK_RESPONSE});
}

void NodeMemory::step() {
  while (events_.ready()) {
    const Pending pending = events_.pop();
    if (pending.answered)
      answer(pending);
    else
      arrive(pending);
  }
  events_.arm();
}

void NodeMemory::arrive(const Pending& pending) {
  tlm::tlm_generic_payload& transaction = *pending.transaction;
  const DataExtension& extension = extension_of(transaction);
  const std::uint64_t address = transaction.get_address();
  tlm::tlm_response_status status = pending.verdict;
  if (status == tlm::TLM_OK_RESPONSE && is_signal(address, extension.operation)) {
    if (access_signal(pending)) return;
  } else if (status == tlm::TLM_OK_RESPONSE) {
    if (address_map::gpu_of(address) == address_map::all_gpus)
      for (std::size_t gpu = 0; gpu < memories_.size(); ++gpu)
        access_memory(transaction, address_map::on_gpu(gpu, address_map::local_of(address)), extension);
    else if (in_memory(address, extension.shape))
      access_memory(transaction, address, extension);
    else
      status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (acknowledged_after == 0 || !transaction.is_write()) transaction.set_response_status(status);
  events_.push(now() + latency - announced_ahead, {pending.port, true, &transaction, status});
}

void NodeMemory::answer(const Pending& pending) {
  if (pending.transaction->get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE && !pending.taken) {
    ports[static_cast<std::size_t>(pending.port)]->taken(*pending.transaction, announced_ahead);
    return events_.push(now() + acknowledged_after, {pending.port, true, pending.transaction, pending.verdict, true});
  }
  if (pending.taken) pending.transaction->set_response_status(pending.verdict);
  ports[static_cast<std::size_t>(pending.port)]->respond(*pending.transaction, announced_ahead);
  pending.transaction->release();
}

bool NodeMemory::in_memory(std::uint64_t address, const Shape& shape) const {
  const std::uint64_t local = address_map::local_of(address);
  return address_map::gpu_of(address) < memories_.size() && shape.rows > 0 &&
         local + (shape.rows - 1) * shape.stride + shape.row_bytes <= bytes_per_gpu_;
}

void NodeMemory::access_memory(tlm::tlm_generic_payload& transaction, std::uint64_t address,
                               const DataExtension& extension) {
  unsigned char* data = transaction.get_data_ptr();
  const unsigned char* enables = transaction.get_byte_enable_ptr();
  const Shape& shape = extension.shape;
  unsigned char* memory = at(address);
  for (std::uint32_t row = 0; data != nullptr && row < shape.rows;
       ++row, data += shape.row_bytes, memory += shape.stride)
    switch (extension.operation) {
      case Operation::store:
        for (std::uint32_t i = 0; i < shape.row_bytes; ++i)
          if (enables == nullptr || enables[row * shape.row_bytes + i] == TLM_BYTE_ENABLED) memory[i] = data[i];
        break;
      case Operation::fetch_add: {
        std::uint64_t sum = 0;
        std::memcpy(&sum, memory, shape.row_bytes);
        std::memcpy(data, memory, shape.row_bytes);
        sum += extension.addend;
        std::memcpy(memory, &sum, shape.row_bytes);
        break;
      }
      case Operation::update:
        if (adds) add_elements(extension.element, memory, data, shape.row_bytes / t3vp::bytes_of(extension.element));
        break;
      default:
        std::memcpy(data, memory, shape.row_bytes);
    }
}

bool NodeMemory::is_signal(std::uint64_t address, Operation operation) const {
  const std::uint64_t offset = address_map::local_of(address) - signals_base;
  const std::uint64_t first =
      operation == Operation::wait ? registers::Signals::value_offset : registers::Signals::add_offset;
  return address_map::gpu_of(address) < signals_.size() && offset - first < registers::Signals::value_count * 8 &&
         offset % 8 == 0 && (operation == Operation::wait || operation == Operation::store);
}

/// True when the access is a wait that has to wait.
bool NodeMemory::access_signal(const Pending& pending) {
  const DataExtension& extension = extension_of(*pending.transaction);
  const std::uint64_t address = pending.transaction->get_address();
  const std::uint64_t offset = address_map::local_of(address) - signals_base;
  const std::uint64_t gpu = address_map::gpu_of(address);
  if (extension.operation == Operation::wait) {
    if (signals_.at(gpu).at((offset - registers::Signals::value_offset) / 8) >= extension.threshold) return false;
    waits_.push_back(pending);
    return true;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, pending.transaction->get_data_ptr(), sizeof value);
  add_signal(gpu, (offset - registers::Signals::add_offset) / 8, value);
  return false;
}

void NodeMemory::add_signal(std::uint64_t gpu, std::size_t index, std::uint64_t value) {
  signals_.at(gpu).at(index) += value;
  for (const Pending& wait : std::exchange(waits_, {})) {
    if (access_signal(wait)) continue;
    wait.transaction->set_response_status(tlm::TLM_OK_RESPONSE);
    events_.push(now() + latency, {wait.port, true, wait.transaction});
  }
}

void NodeMemory::withdraw_waits() {
  for (const Pending& wait : std::exchange(waits_, {})) {
    wait.transaction->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    events_.push(now(), {wait.port, true, wait.transaction});
  }
}

unsigned NodeMemory::debug(int, tlm::tlm_generic_payload& transaction) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  const Shape shape = extension != nullptr ? extension->shape : Shape{1, transaction.get_data_length(), 0};
  if (!in_memory(transaction.get_address(), shape)) {
    transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  DataExtension plain;
  plain.shape = shape;
  plain.operation = transaction.is_read() ? Operation::load : Operation::store;
  access_memory(transaction, transaction.get_address(), plain);
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  return transaction.get_data_length();
}

std::vector<LoggedAccess> NodeMemory::accesses(Operation operation) const {
  std::vector<LoggedAccess> result;
  for (const LoggedAccess& access : log)
    if (access.operation == operation) result.push_back(access);
  return result;
}

std::uint64_t NodeMemory::bytes_of(Operation operation) const {
  std::uint64_t bytes = 0;
  for (const LoggedAccess& access : log)
    if (access.operation == operation) bytes += access.shape.bytes();
  return bytes;
}

std::uint64_t NodeMemory::bytes_of(Operation operation, TrafficClass traffic) const {
  std::uint64_t bytes = 0;
  for (const LoggedAccess& access : log)
    if (access.operation == operation && access.traffic == traffic) bytes += access.shape.bytes();
  return bytes;
}

}  // namespace t3vp
