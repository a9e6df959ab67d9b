#include "races/race_detector.h"

#include <fmt/format.h>

#include "protocol/address_map.h"
#include "protocol/units.h"

namespace t3vp::races {
namespace {

constexpr std::uint64_t poll_bytes_most = 8;

bool is_write(Operation operation) { return !is_read(operation) || operation == Operation::fetch_add; }

/// Whether the access shares a counter or flag with others.
bool is_atomic(const RaceDetector::Request& request) {
  return request.is_flag || request.operation == Operation::fetch_add;
}

/// A fetch-and-add is remembered as an update is: those that nothing orders are seen together.
Operation remembered(Operation operation) { return operation == Operation::fetch_add ? Operation::update : operation; }

std::uint64_t block_of(std::uint64_t address) { return address & ~(address_map::block_bytes - 1); }

const char* text_of(const Access& access) {
  return access.is_atomic && access.operation != Operation::load ? "write" : name_of(access.operation);
}

}  // namespace

void RaceDetector::requested(const Request& request) {
  if (request.order == 0 || request.operation == Operation::wait) return;
  const bool is_memory = address_map::is_hbm(request.address);
  if (is_memory && (is_write(request.operation) || !is_atomic(request)))
    note({request.order, remembered(request.operation), request.element, is_atomic(request), request.time},
         request.address, request.shape);
  if (is_write(request.operation) && (!is_memory || is_atomic(request))) order_.release(request.order);
}

void RaceDetector::responded(const Request& request) {
  if (request.order == 0) return;
  if (request.operation == Operation::wait) return order_.acquire(request.order, request.order);
  if (!is_read(request.operation) || !is_atomic(request) || !address_map::is_hbm(request.address)) return;
  follow_writes(order_.agent_of(request.order), request.address, request.address + request.shape.bytes());
}

void RaceDetector::host_reads(std::uint16_t gpu, std::uint64_t address, std::uint64_t bytes, Picoseconds time) {
  const Agent host = order_.agent(gpu, program);
  if (!address_map::is_hbm(address)) return follow_shown(host, address);
  if (bytes > poll_bytes_most) {
    const Access access{order_.point_of(host), Operation::load, ElementType::fp16, true, time};
    bool is_flag = false;
    history_.for_each_write(address, address + bytes, [&](const Access& write) { is_flag |= write.is_atomic; });
    if (!is_flag) return note(access, address, {1, static_cast<std::uint32_t>(bytes), 0});
  }
  follow_writes(host, address, address + bytes);
}

void RaceDetector::host_writes(std::uint16_t gpu, std::uint64_t address, std::uint64_t bytes, Picoseconds time) {
  if (!address_map::is_hbm(address)) return;
  const Agent host = order_.agent(gpu, program);
  note({order_.point_of(host), Operation::store, ElementType::fp16, bytes <= poll_bytes_most, time}, address,
       {1, static_cast<std::uint32_t>(bytes), 0});
  order_.release_by(host);
}

void RaceDetector::host_has_written_register(std::uint16_t gpu) { order_.release_by(order_.agent(gpu, program)); }

OrderPoint RaceDetector::release(std::uint16_t gpu, const char* name) {
  const Agent agent = order_.agent(gpu, name);
  const OrderPoint point = order_.point_of(agent);
  order_.release_by(agent);
  return point;
}

void RaceDetector::show(std::uint64_t address, OrderPoint point) {
  OrderPoint& shown = shown_[address];
  shown = order_.join(shown, point);
}

/// The interrupt controller shows what any block has to tell.
void RaceDetector::follow_shown(Agent agent, std::uint64_t address) {
  const auto follow_one = [&](std::uint64_t place) {
    if (const auto found = shown_.find(place); found != shown_.end()) order_.acquire_by(agent, found->second);
  };
  follow_one(address);
  const std::uint64_t block = block_of(address), gpu = address_map::gpu_of(address);
  if (block != address) follow_one(block);
  if (block != address_map::on_gpu(gpu, address_map::block_base(address_map::Block::interrupt_controller))) return;
  for (std::size_t i = 0; i < address_map::block_count; ++i)
    follow_one(address_map::on_gpu(gpu, address_map::block_base(static_cast<address_map::Block>(i))));
}

void RaceDetector::exchange(std::uint16_t gpu) {
  exchanged_ = order_.join(exchanged_, release(gpu, program));
  follow(gpu, program, exchanged_);
}

void RaceDetector::follow_writes(Agent agent, std::uint64_t begin, std::uint64_t end) {
  history_.for_each_write(begin, end, [&](const Access& write) { order_.acquire_by(agent, write.by); });
}

void RaceDetector::note(const Access& access, std::uint64_t address, const Shape& shape) {
  const bool is_of_all = address_map::gpu_of(address) == address_map::all_gpus;
  History::Noted noted(history_, access);
  races_.clear();
  for (std::uint32_t gpu = 0; gpu < (is_of_all ? gpus_ : 1); ++gpu) {
    const std::uint64_t first = is_of_all ? address_map::on_gpu(gpu, address_map::local_of(address)) : address;
    for (std::uint32_t row = 0; row < shape.rows; ++row) {
      const std::uint64_t begin = first + row * shape.stride;
      noted.bytes(begin, begin + shape.row_bytes, races_);
    }
  }
  for (const Race& race : races_) report(access, shape.bytes(), race);
}

void RaceDetector::report(const Access& access, std::uint64_t bytes, const Race& race) {
  const bool is_first =
      reported_
          .emplace(order_.kind_of(access.by), order_.kind_of(race.earlier.by), access.operation, race.earlier.operation)
          .second;
  if (!is_first) return;
  const std::string who = order_.name_of(access.by), other = order_.name_of(race.earlier.by);
  found_.add(
      {Violation::By::initiator, who, "access that nothing orders with an earlier one",
       fmt::format("{} of {} bytes with {:#x} at {:.3f} ns, and before it the {} by {} at {:.3f} ns", text_of(access),
                   bytes, race.address, to_ns(access.time), text_of(race.earlier), other, to_ns(race.earlier.time))});
}

}  // namespace t3vp::races
