#include "dma/link_transfers.h"

#include <algorithm>
#include <cstring>

#include "protocol/access_description.h"
#include "protocol/response_status.h"

namespace t3vp::dma {

LinkTransfers::LinkTransfers(CommandTable& table, DmaAccesses& accesses, DmaStatus& status, const Ports& ports,
                             const DmaParameters& parameters, bool functional, std::uint16_t gpu)
    : table_(table),
      accesses_(accesses),
      status_(status),
      ports_(ports),
      parameters_(parameters),
      functional_(functional),
      gpu_(gpu) {}

void LinkTransfers::clear() {
  jobs_.clear();
  links_left_.clear();
  bytes_in_flight_ = unacknowledged_ = 0;
  blocks_.reset();
  bytes_.reset();
}

void LinkTransfers::forget_removed() {
  const auto is_gone = [this](const Job& job) { return table_.find(job.serial) == nullptr; };
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), is_gone), jobs_.end());
}

void LinkTransfers::start() {
  while (!jobs_.empty()) {
    const Job& job = jobs_.front();
    const Command& command = *table_.find(job.serial);
    if (!fits(parameters_.bytes_in_flight, bytes_in_flight_,
              command.tile(job).elements() * bytes_of(command.range.grid.element)))
      return;
    read(job);
    jobs_.pop_front();
  }
}

void LinkTransfers::read(const Job& job) {
  const Command& command = *table_.find(job.serial);
  const TileGrid& grid = command.range.grid;
  const Rectangle part = command.tile(job);
  Transaction& transaction =
      accesses_.make(Operation::load, command.range.base + grid.offset(part), grid.shape(part), job.serial);
  DataExtension& extension = transaction.extension();
  extension.traffic = command.reads;
  extension.element = grid.element;
  extension.producer = {job.wg_id, static_cast<std::uint8_t>(job.wf_id), gpu_};
  extension.order = accesses_.begin_transfer(gpu_, job.behind, command.added);
  if (functional_) transaction.attach_buffer();
  bytes_in_flight_ += extension.shape.bytes();
  const AtCause leaving(cause_at(now() + parameters_.latency, Part::dma));
  ports_.memory.send(transaction, parameters_.latency);
}

void LinkTransfers::loaded(Transaction& read) {
  const Command* const found = table_.find(DmaAccesses::for_whom(read));
  if (found == nullptr || read.is_response_error()) return ended(read);
  const Command& command = *found;
  const Producer& producer = read.extension().producer;
  if (trace_ != nullptr)
    trace_->span(track_, "dma", now(), now() + 1000, flow_of(gpu_, producer.wg_id, producer.wf_id));
  if (command.ends_block({command.serial, producer.wg_id, producer.wf_id})) blocks_ += command.destinations.size();
  if (command.destinations.size() > 1)
    links_left_[{read.extension().token, producer.wg_id, producer.wf_id}] = command.destinations.size();
  for (const std::uint64_t destination : command.destinations) send_to(command, destination, read);
  read.release();
}

void LinkTransfers::send_to(const Command& command, std::uint64_t destination, Transaction& read) {
  const DataExtension& extension = read.extension();
  Transaction& transaction = accesses_.make(
      command.kind == Command::Kind::update ? Operation::update : Operation::store,
      read.get_address() - command.range.base + destination, extension.shape, DmaAccesses::for_whom(read));
  transaction.extension().traffic = command.writes;
  transaction.extension().element = extension.element;
  transaction.extension().producer = extension.producer;
  transaction.extension().order = extension.order;
  if (const unsigned char* data = read.get_data_ptr()) {
    transaction.attach_buffer();
    std::memcpy(transaction.get_data_ptr(), data, transaction.get_data_length());
  }
  ++unacknowledged_;
  ports_.remote.send(transaction, 0);
}

/// Room is made when the last link has taken the tile.
void LinkTransfers::left(const Transaction& tile) {
  const DataExtension& extension = *tile.get_extension<DataExtension>();
  const auto found = links_left_.find({extension.token, extension.producer.wg_id, extension.producer.wf_id});
  if (found != links_left_.end() && --found->second != 0) return;
  if (found != links_left_.end()) links_left_.erase(found);
  bytes_in_flight_ -= extension.shape.bytes();
}

void LinkTransfers::acknowledged(Transaction& sent) {
  --unacknowledged_;
  ended(sent);
}

/// A tile could not be read, or its peer has answered.
void LinkTransfers::ended(Transaction& transaction) {
  const DataExtension& extension = transaction.extension();
  if (!extension.taken) left(transaction);
  const Status status = status_of_data_access(transaction);
  if (status == Status::ok && extension.operation != Operation::load) bytes_ += extension.shape.bytes();
  Command* const command = table_.find(DmaAccesses::for_whom(transaction));
  if (command != nullptr && status != Status::ok)
    status_.fail(status, transaction.get_address(),
                 extension.taken ? text_of_refusal(transaction)
                                 : describe(transaction) + ": the tile could not be read or sent");
  const bool unsent = extension.operation == Operation::load;
  const OrderPoint point = extension.order;
  transaction.release();
  if (command != nullptr) table_.arrived(*command, point, unsent ? command->destinations.size() : 1);
}

}  // namespace t3vp::dma
