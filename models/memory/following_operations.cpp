#include "memory/following_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "protocol/own_address.h"
#include "protocol/traffic_classes.h"

namespace t3vp::memory {
namespace {

constexpr std::uint64_t alignment = 32;
constexpr unsigned operand_bits = 3;  // of a token: the operand, below the job's number
constexpr FollowOperand adam_state[] = {follow_means, follow_squares, follow_weights};

float number_of(std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace

FollowingOperations::FollowingOperations(const sc_core::sc_module_name& name, registers::NearMemory& registers,
                                         bool functional, std::uint16_t gpu)
    : sc_module(name), registers_(registers), functional_(functional), gpu_(gpu) {
  trigger.expect({false, true});
  registers_.follow_operation.on_write([this] { check(); });
  registers_.followed.on_refresh([this] { registers_.followed.set(tiles_); });
}

FollowingOperations::~FollowingOperations() = default;

/// An operation is checked when it is written, with what the other registers hold then.
void FollowingOperations::check() {
  const auto& operation = registers_.follow_operation;
  if (operation.value() == 0) return;
  const float keep = number_of(registers_.follow_keep.value()), rate = number_of(registers_.follow_rate.value());
  const auto refuse = [this](const std::string& text) { registers_.refuse(Status::invalid_argument, text); };
  if (registers_.follow_stride.value() == 0 || registers_.follow_stride.value() % alignment != 0)
    return refuse(fmt::format("follow_stride {}: a multiple of {} above 0 expected", registers_.follow_stride.value(),
                              alignment));
  struct Place {
    const char* name;
    std::uint64_t address;
    bool is_used;
  };
  for (const Place& place : {Place{"follow_output", registers_.follow_output.value(), true},
                             Place{"follow_bias", registers_.follow_bias.value(), operation.bias() != 0},
                             Place{"follow_residual", registers_.follow_residual.value(), operation.residual() != 0},
                             Place{"follow_means", registers_.follow_means.value(), optimizes()},
                             Place{"follow_squares", registers_.follow_squares.value(), optimizes()},
                             Place{"follow_weights", registers_.follow_weights.value(), optimizes()}}) {
    if (!place.is_used) continue;
    if (place.address % alignment != 0)
      return refuse(fmt::format("{} {:#x}: a multiple of {} expected", place.name, place.address, alignment));
    if (address_map::gpu_of(place.address) != gpu_)
      return refuse(fmt::format("{} {:#x}: memory of GPU {} expected{}", place.name, place.address, gpu_,
                                number_hint(gpu_, place.address)));
  }
  if (drops() && !(keep > 0 && keep <= 1))
    return refuse(fmt::format("follow_keep {}: the probability to keep, above 0 and at most 1, expected", keep));
  if (optimizes() && (operation.bias() != 0 || operation.residual() != 0 || drops()))
    return refuse("follow_operation: adam without bias, dropout and residual expected");
  if (optimizes() && !std::isfinite(rate)) return refuse(fmt::format("follow_rate {}: a finite number expected", rate));
  reads_ = traffic_class_of("follow_read", TrafficDirection::reads).value_or(TrafficClass::control);
  writes_ = traffic_class_of("follow_write", TrafficDirection::writes).value_or(TrafficClass::control);
}

void FollowingOperations::reset() {
  ++generation_;
  jobs_.clear();
  tiles_ = 0;
}

bool FollowingOperations::follows(const tlm::tlm_generic_payload& message) const {
  const std::uint64_t output = registers_.follow_output.value();
  const std::uint32_t workgroup = message.get_extension<DataExtension>()->producer.wg_id;
  return registers_.follow_operation.value() != 0 && message.get_address() >= output &&
         message.get_address() - output < registers_.follow_bytes.value() &&
         workgroup >= registers_.follow_first.value() &&
         workgroup - registers_.follow_first.value() < registers_.follow_workgroups.value();
}

void FollowingOperations::triggered(int, tlm::tlm_generic_payload& message, Picoseconds delay) {
  if (follows(message)) {
    begin(message, delay);
  } else {
    const DataExtension& extension = extension_of(message);
    Job job;
    job.address = message.get_address();
    job.shape = extension.shape;
    job.element = extension.element;
    job.producer = extension.producer;
    job.order = extension.order;
    pass(job, delay);
  }
  message.set_response_status(tlm::TLM_OK_RESPONSE);
  trigger.respond(message, delay);
}

Transaction& FollowingOperations::access(Operation operation, std::uint64_t address, const Shape& shape,
                                         std::uint32_t number, FollowOperand operand) {
  Transaction& transaction = pool_.make(operation, address, shape);
  DataExtension& extension = transaction.extension();
  extension.stream = Stream::communication;
  extension.traffic = is_read(operation) ? reads_ : writes_;
  extension.cached = false;
  extension.token = std::uint64_t{generation_} << 32 | number << operand_bits | operand;
  extension.element = jobs_[number].element;
  extension.order = jobs_[number].order;
  extension.producer.gpu = gpu_;
  if (functional_) transaction.attach_buffer();
  return transaction;
}

std::uint64_t FollowingOperations::matrix_of(FollowOperand operand) const {
  switch (operand) {
    case follow_residual:
      return registers_.follow_residual.value();
    case follow_means:
      return registers_.follow_means.value();
    case follow_squares:
      return registers_.follow_squares.value();
    case follow_weights:
      return registers_.follow_weights.value();
    default:
      return registers_.follow_output.value();
  }
}

void FollowingOperations::load(std::uint32_t number, FollowOperand operand, std::uint64_t address, const Shape& shape,
                               Picoseconds delay) {
  ++jobs_[number].loading;
  Transaction& transaction = access(Operation::load, address, shape, number, operand);
  memory.send(transaction, delay);
}

void FollowingOperations::begin(const tlm::tlm_generic_payload& message, Picoseconds delay) {
  const DataExtension& extension = *message.get_extension<DataExtension>();
  const auto free = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return !job.used; });
  const auto number = static_cast<std::uint32_t>(free - jobs_.begin());
  if (free == jobs_.end()) jobs_.emplace_back();
  Job& job = jobs_[number];
  job = Job{};
  job.used = true;
  job.optimizes = optimizes();
  job.address = message.get_address();
  job.shape = extension.shape;
  job.element = extension.element;
  job.producer = extension.producer;
  job.order = extension.order;
  const std::uint64_t offset = job.address - registers_.follow_output.value();
  const Shape shape = job.shape, row{1, shape.row_bytes, 0};
  const std::uint64_t address = job.address, in_row = offset % registers_.follow_stride.value();
  if (drops() || optimizes()) load(number, follow_sum, address, shape, delay);
  if (registers_.follow_operation.bias() != 0)
    load(number, follow_bias, registers_.follow_bias.value() + in_row, row, delay);
  if (registers_.follow_operation.residual() != 0)
    load(number, follow_residual, matrix_of(follow_residual) + offset, shape, delay);
  if (optimizes())
    for (const FollowOperand operand : adam_state) load(number, operand, matrix_of(operand) + offset, shape, delay);
}

void FollowingOperations::accessed(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  events_.push(now() + delay, &transaction);
}

void FollowingOperations::step() {
  while (events_.ready()) {
    tlm::tlm_generic_payload& transaction = *events_.pop();
    const std::uint64_t token = extension_of(transaction).token;
    if (token >> 32 == generation_) finish(static_cast<std::uint32_t>(token), transaction);
    transaction.release();
  }
  events_.arm();
}

/// An operand has come, or a result is written.
void FollowingOperations::finish(std::uint32_t token, tlm::tlm_generic_payload& transaction) {
  const std::uint32_t number = token >> operand_bits;
  Job& job = jobs_[number];
  if (is_read(extension_of(transaction).operation)) {
    take(job, static_cast<FollowOperand>(token & ((1U << operand_bits) - 1)), transaction);
    if (--job.loading == 0) write(number);
    return;
  }
  if (!transaction.is_response_ok())
    registers_.report(Status::bad_address, transaction.get_address(),
                      "a result of the operation that follows a reduction cannot be written");
  if (--job.writing != 0) return;
  ++tiles_;
  pass(job, 0);
  job.used = false;
}

/// What cannot be read counts as zeros.
void FollowingOperations::take(Job& job, FollowOperand operand, const tlm::tlm_generic_payload& transaction) {
  if (!transaction.is_response_ok())
    registers_.report(Status::bad_address, transaction.get_address(),
                      "an operand of the operation that follows a reduction cannot be read");
  if (!functional_) return;
  const unsigned char* const data = transaction.get_data_ptr();
  job.operands[operand].assign(data, data + transaction.get_data_length());
  if (!transaction.is_response_ok()) std::fill(job.operands[operand].begin(), job.operands[operand].end(), 0);
}

void FollowingOperations::compute(Job& job) const {
  if (job.optimizes) return take_adam_step(job.element, job.operands, number_of(registers_.follow_rate.value()));
  const std::uint64_t stride = registers_.follow_stride.value(),
                      offset = job.address - registers_.follow_output.value();
  const std::uint32_t element = bytes_of(job.element);
  const FollowPlace place{offset / stride, offset % stride / element, job.shape.rows, job.shape.row_bytes / element};
  const FollowDropout dropout{drops() ? number_of(registers_.follow_keep.value()) : 1,
                              static_cast<std::uint32_t>(registers_.follow_seed.value())};
  job.operands[follow_sum] = followed_sums(job.element, job.operands, place, dropout);
}

void FollowingOperations::write(std::uint32_t number) {
  if (functional_) compute(jobs_[number]);
  const std::uint64_t address = jobs_[number].address, offset = address - registers_.follow_output.value();
  jobs_[number].writing = jobs_[number].optimizes ? std::size(adam_state) : 1;
  if (!jobs_[number].optimizes)
    return write(number, drops() ? Operation::store : Operation::update, follow_sum, address);
  for (const FollowOperand operand : adam_state) write(number, Operation::store, operand, matrix_of(operand) + offset);
}

void FollowingOperations::write(std::uint32_t number, Operation operation, FollowOperand operand,
                                std::uint64_t address) {
  const Job& job = jobs_[number];
  Transaction& transaction = access(operation, address, job.shape, number, operand);
  if (functional_) std::copy(job.operands[operand].begin(), job.operands[operand].end(), transaction.get_data_ptr());
  memory.send(transaction, 0);
}

void FollowingOperations::pass(const Job& job, Picoseconds delay) {
  Transaction& message = pool_.make(Operation::store, job.address, job.shape);
  message.extension().element = job.element;
  message.extension().producer = job.producer;
  message.extension().order = job.order;
  complete.send(message, delay);
}

std::vector<std::string> FollowingOperations::diagnosis() const {
  const auto waiting = std::count_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.used; });
  if (waiting == 0) return {};
  return {fmt::format("GPU {} near-memory unit: {} tiles wait for what follows their reduction", gpu_, waiting)};
}

}  // namespace t3vp::memory
