#include "dma/memory_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "protocol/access_description.h"
#include "protocol/own_address.h"
#include "protocol/response_status.h"
#include "t3/little_endian.h"

namespace t3vp::dma {
namespace {
constexpr std::uint64_t copy_piece_bytes = 4096;
}

MemoryCopies::MemoryCopies(registers::Dma& registers, DmaStatus& status, DmaAccesses& accesses, const Ports& ports,
                           const DmaParameters& parameters, bool functional, std::uint16_t gpu)
    : registers_(registers),
      status_(status),
      accesses_(accesses),
      ports_(ports),
      parameters_(parameters),
      functional_(functional),
      gpu_(gpu),
      queues_(parameters.copy_queues) {
  registers_.copies_added.on_refresh([this] { registers_.copies_added.set(added_); });
  registers_.copies_ended.on_refresh([this] { registers_.copies_ended.set(ended_); });
  registers_.copy_queues.set(parameters.copy_queues);
}

void MemoryCopies::clear() {
  std::fill(queues_.begin(), queues_.end(), Queue{});
  added_ = ended_ = 0;
  bytes_.reset();
  registers_.copy_queues.set(parameters_.copy_queues);
}

DataInitiatorBase& MemoryCopies::socket_to(std::uint64_t address) {
  return address_map::gpu_of(address) == gpu_ ? ports_.memory : ports_.remote;
}

bool MemoryCopies::refuses(const Copy& copy) const {
  const auto refuse = [&](Status status, std::uint64_t address, const std::string& text) {
    status_.refuse(status, address, text);
    return true;
  };
  const std::uint32_t width = copy.flag_bytes;
  if (copy.from % 32 != 0 || copy.to % 32 != 0 || copy.bytes % 4 != 0)
    return refuse(Status::unaligned, copy.from,
                  fmt::format("copy of {} bytes from {:#x} to {:#x}: multiples of 32, bytes a multiple of 4, expected",
                              copy.bytes, copy.from, copy.to));
  if (copy.bytes == 0) return refuse(Status::invalid_argument, copy.from, "copy of 0 bytes: 4 or more expected");
  if (copy.flag != 0 && (copy.flag % width != 0))
    return refuse(Status::unaligned, copy.flag,
                  fmt::format("flag of {} bytes at {:#x}: a multiple of its bytes expected", width, copy.flag));
  if (address_map::gpu_of(copy.from) != gpu_ || !ports_.memory.holds(copy.from, copy.bytes))
    return refuse(Status::bad_address, copy.from,
                  fmt::format("copy of {:#x} bytes from {:#x} is not all in the memory of GPU {}{}", copy.bytes,
                              copy.from, gpu_, number_hint(gpu_, copy.from)));
  if (!ports_.memory.holds(address_map::on_gpu(gpu_, address_map::local_of(copy.to)), copy.bytes))
    return refuse(Status::bad_address, copy.to,
                  fmt::format("copy of {:#x} bytes to {:#x} is not all in memory", copy.bytes, copy.to));
  for (const std::uint64_t target : {copy.to, copy.flag})
    if (target != 0 && address_map::gpu_of(target) != gpu_ && !ports_.remote.reaches(target))
      return refuse(Status::no_peer, target,
                    fmt::format("copy to {:#x}: no link leads to GPU {}", target, address_map::gpu_of(target)));
  if (address_map::gpu_of(copy.to) == gpu_ && copy.to < copy.from + copy.bytes && copy.from < copy.to + copy.bytes)
    return refuse(Status::overlap, copy.to,
                  fmt::format("copy of {:#x} bytes from {:#x} to {:#x}: they overlap", copy.bytes, copy.from, copy.to));
  return false;
}

void MemoryCopies::add() {
  const std::size_t queue = registers_.copy_options.queue();
  Copy copy{registers_.copy_from.value(),
            registers_.copy_to.value(),
            registers_.copy_bytes.value(),
            registers_.copy_flag.value(),
            registers_.copy_flag_value.value(),
            1u << static_cast<std::uint32_t>(registers_.copy_options.flag_width()),
            registers_.command.reads(),
            registers_.command.writes(),
            {}};
  if (queue >= queues_.size())
    return status_.refuse(Status::invalid_argument, copy.from,
                          fmt::format("copy in queue {}: 0 to {} expected", queue, queues_.size() - 1));
  if (queues_[queue].copies.size() >= parameters_.copies)
    return status_.refuse(Status::busy, copy.from,
                          fmt::format("queue {} has {} copies, as many as it holds", queue, parameters_.copies));
  if (refuses(copy)) return;
  status_.accept();
  if (accesses_.order() != nullptr)
    copy.order = accesses_.begin_transfer(gpu_, accesses_.order()->point_of(gpu_, OrderObserver::program));
  queues_[queue].copies.push_back(copy);
  ++added_;
}

void MemoryCopies::start() {
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) read(queue);
}

void MemoryCopies::read(std::size_t number) {
  Queue& queue = queues_[number];
  if (queue.copies.empty()) return;
  Copy& copy = queue.copies.front();
  while (copy.next < copy.bytes && !copy.has_failed) {
    const auto bytes = static_cast<std::uint32_t>(std::min(copy.bytes - copy.next, copy_piece_bytes));
    if (!fits(parameters_.copy_bytes_in_flight, queue.in_flight, bytes)) return;
    Transaction& transaction =
        accesses_.make(Operation::load, copy.from + copy.next, {1, bytes, 0}, DmaAccesses::of_copy(number));
    transaction.extension().traffic = copy.reads;
    transaction.extension().order = copy.order;
    if (functional_) transaction.attach_buffer();
    copy.next += bytes;
    copy.unanswered += bytes;
    queue.in_flight += bytes;
    const AtCause leaving(cause_at(now() + parameters_.latency, Part::dma));
    ports_.memory.send(transaction, parameters_.latency);
  }
}

void MemoryCopies::fail(Copy& copy, Transaction& transaction) {
  copy.has_failed = true;
  status_.fail(status_of_data_access(transaction), transaction.get_address(),
               describe(transaction) + ": a piece of a copy was refused");
}

void MemoryCopies::loaded(Transaction& read) {
  const std::size_t number = DmaAccesses::copy_of(read);
  Queue& queue = queues_[number];
  Copy& copy = queue.copies.front();
  const std::uint64_t bytes = read.extension().shape.bytes();
  if (read.is_response_error()) {
    fail(copy, read);
    queue.in_flight -= bytes;
    read.release();
    return answered(number, bytes);
  }
  Transaction& piece = accesses_.make(Operation::store, copy.to + (read.get_address() - copy.from),
                                      read.extension().shape, DmaAccesses::of_copy(number));
  piece.extension().traffic = copy.writes;
  piece.extension().order = copy.order;
  if (const unsigned char* data = read.get_data_ptr()) {
    piece.attach_buffer();
    std::memcpy(piece.get_data_ptr(), data, piece.get_data_length());
  }
  read.release();
  socket_to(piece.get_address()).send(piece, 0);
}

void MemoryCopies::taken(const Transaction& piece) {
  const DataExtension& extension = *piece.get_extension<DataExtension>();
  if (!extension.real) queues_[DmaAccesses::copy_of(piece)].in_flight -= extension.shape.bytes();
}

void MemoryCopies::acknowledged(Transaction& sent) {
  const std::size_t number = DmaAccesses::copy_of(sent);
  Copy& copy = queues_[number].copies.front();
  const DataExtension& extension = *sent.get_extension<DataExtension>();
  const std::uint64_t bytes = extension.shape.bytes();
  const bool is_flag = extension.real;
  if (!is_flag && !extension.taken) queues_[number].in_flight -= bytes;
  if (sent.is_response_error())
    fail(copy, sent);
  else if (!is_flag)
    bytes_ += bytes;
  sent.release();
  if (is_flag) return end(number);
  answered(number, bytes);
}

/// A copy that has failed sends no more, and no flag.
void MemoryCopies::answered(std::size_t number, std::uint64_t bytes) {
  Copy& copy = queues_[number].copies.front();
  copy.unanswered -= bytes;
  if (copy.unanswered != 0 || (copy.next < copy.bytes && !copy.has_failed)) return;
  if (copy.flag == 0 || copy.has_failed) return end(number);
  write_flag(number);
}

/// All pieces have been answered: they are in the target's memory.
void MemoryCopies::write_flag(std::size_t number) {
  const Copy& copy = queues_[number].copies.front();
  Transaction& flag =
      accesses_.make(Operation::store, copy.flag, {1, copy.flag_bytes, 0}, DmaAccesses::of_copy(number));
  flag.extension().traffic = TrafficClass::control;
  flag.extension().order = copy.order;
  flag.extension().real = true;
  flag.attach_buffer();
  t3_put_number(flag.get_data_ptr(), copy.flag_bytes, copy.flag_value);
  socket_to(copy.flag).send(flag, 0);
}

void MemoryCopies::end(std::size_t number) {
  const OrderPoint order = queues_[number].copies.front().order;
  queues_[number].copies.pop_front();
  ++ended_;
  if (accesses_.order() != nullptr)
    accesses_.order()->show(address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::dma)), order);
  status_.copy_ended();
}

std::string MemoryCopies::use_of(const OutputRange& range) const {
  for (const Queue& queue : queues_)
    for (const Copy& copy : queue.copies)
      if (range.overlaps(copy.to, copy.bytes))
        return fmt::format("a copy writes {:#x} to {:#x}", copy.to, copy.to + copy.bytes - 1);
  return {};
}

}  // namespace t3vp::dma
