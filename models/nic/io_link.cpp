#include "nic/io_link.h"

#include <algorithm>
#include <cstring>

#include "nic/network_rules.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/traffic_classes.h"

namespace t3vp::nic {

IoLink::IoLink(const sc_core::sc_module_name& name, const NicParameters& parameters, bool functional,
               std::uint16_t number)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      functional_(functional),
      number_(number),
      reads_(traffic_class_of("nic_read", TrafficDirection::reads).value_or(TrafficClass::control)),
      writes_(traffic_class_of("nic_write", TrafficDirection::writes).value_or(TrafficClass::control)) {}

IoLink::~IoLink() = default;

/// The payload of messages is the NIC's own traffic. Queues, records and completions are control, as kernel packets
/// are.
TrafficClass IoLink::traffic_of(const Purpose& purpose) const {
  switch (purpose.what) {
    case Purpose::payload:
    case Purpose::answer:
      return reads_;
    case Purpose::place:
    case Purpose::scatter:
      return writes_;
    default:
      return TrafficClass::control;
  }
}

void IoLink::reset() { ++generation_; }

/// Registers show how far it is.
void IoLink::follow(OrderPoint point) {
  if (order_ == nullptr) return;
  order_->follow(number_, OrderObserver::nic, point);
  order_->show(address_map::on_gpu(number_, address_map::block_base(address_map::Block::nic)),
               order_->point_of(number_, OrderObserver::nic));
}

void IoLink::follow_program() {
  if (order_ != nullptr) follow(order_->point_of(number_, OrderObserver::program));
}

OrderPoint IoLink::release() { return order_ == nullptr ? 0 : order_->release(number_, OrderObserver::nic); }

Transaction& IoLink::make(Operation operation, const Area& area, const Purpose& purpose) {
  Transaction& transaction = pool_.make(operation, area.begin, area.shape);
  DataExtension& extension = transaction.extension();
  extension.stream = Stream::communication;
  extension.cached = false;
  if (order_ != nullptr) extension.order = order_->point_of(number_, OrderObserver::nic);
  extension.traffic = traffic_of(purpose);
  extension.producer.gpu = static_cast<std::uint16_t>(address_map::gpu_of(area.begin));
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(purposes_.size()));
    purposes_.emplace_back();
  }
  extension.token = std::uint64_t{generation_} << 32 | unused_.back();
  purposes_[unused_.back()] = purpose;
  unused_.pop_back();
  return transaction;
}

Picoseconds IoLink::take_turn(Picoseconds& free, std::uint64_t bytes) const {
  free = std::max(free, now()) + transfer_time(bytes, parameters_.io_GBps);
  return free - now();
}

void IoLink::load(const Area& from, bool real, const Purpose& purpose) {
  Transaction& transaction = make(Operation::load, from, purpose);
  if (real || functional_) transaction.attach_buffer();
  transaction.extension().real = real;
  memory.send(transaction, take_turn(out_free_, 0) + parameters_.io_latency);
}

void IoLink::store(std::uint64_t address, const unsigned char* data, std::uint32_t bytes, const Purpose& purpose) {
  send_write(make(Operation::store, flat(address, bytes), purpose), data);
}

void IoLink::update(const Area& to, const unsigned char* data, ElementType element, const Producer& producer,
                    const Purpose& purpose) {
  Transaction& transaction = make(Operation::update, to, purpose);
  transaction.extension().element = element;
  transaction.extension().producer = producer;
  send_write(transaction, data);
}

void IoLink::send_write(Transaction& transaction, const unsigned char* data) {
  const std::uint32_t bytes = transaction.get_data_length();
  if (data != nullptr) {
    transaction.attach_buffer();
    transaction.extension().real = true;
    std::memcpy(transaction.get_data_ptr(), data, bytes);
  }
  memory.send(transaction, take_turn(out_free_, bytes) + parameters_.io_latency);
}

void IoLink::fetch_add(std::uint64_t address, std::uint64_t addend, const Purpose& purpose) {
  Transaction& transaction = make(Operation::fetch_add, flat(address, 8), purpose);
  transaction.extension().addend = addend;
  transaction.attach_buffer();
  memory.send(transaction, take_turn(out_free_, 8) + parameters_.io_latency);
}

void IoLink::response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  events_.push(now() + delay, {static_cast<Transaction*>(&transaction), false});
}

void IoLink::step() {
  while (events_.ready()) {
    const Answer answer = events_.pop();
    if (answer.at_nic)
      deliver(*answer.transaction);
    else
      bring(*answer.transaction);
  }
  events_.arm();
}

/// Data that were read take the link's bandwidth on their way.
void IoLink::bring(Transaction& transaction) {
  const std::uint64_t bytes = is_read(transaction.extension().operation) ? transaction.get_data_length() : 0;
  const Picoseconds sent = bytes == 0 ? 0 : take_turn(in_free_, bytes);
  events_.push(now() + sent + parameters_.io_latency, {&transaction, true});
}

void IoLink::deliver(Transaction& transaction) {
  const std::uint64_t token = transaction.extension().token;
  const auto slot = static_cast<std::uint32_t>(token);
  const Purpose purpose = purposes_[slot];
  unused_.push_back(slot);
  if (token >> 32 == generation_) on_answer(purpose, transaction);
  transaction.release();
}

}  // namespace t3vp::nic
