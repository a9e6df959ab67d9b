#include "compute/byte_accesses.h"

#include <fmt/format.h>

#include <cstring>

#include "protocol/address_map.h"

namespace t3vp::compute {

Transaction& ByteAccesses::real_bytes(Operation operation, std::uint64_t address, std::uint32_t bytes, bool cached) {
  Transaction& transaction = host_.pool().make(operation, address, {1, bytes, 0});
  transaction.extension().cached = cached && accesses_.is_own(address);
  transaction.extension().real = true;
  transaction.attach_buffer();
  return transaction;
}

void ByteAccesses::read(Wave& wave) {
  const t3_bytes& asked = wave.waiting->bytes;
  wave.ends_later = true;
  accesses_.issue(wave, real_bytes(Operation::load, asked.address, asked.bytes, asked.cached),
                  accesses_.behind_stores(wave, asked.address));
}

void ByteAccesses::tell_read(Wave& wave, const Transaction& transaction) {
  if (transaction.is_response_ok())
    wave.reads.note(wave.given.workgroup, wave.waiting->bytes.address, transaction.get_data_ptr(),
                    transaction.get_data_length());
  const KernelTime time(host_, code_of(wave));
  *wave.waiting->bytes.done = transaction.is_response_ok();
  if (transaction.is_response_ok())
    std::memcpy(wave.waiting->bytes.read, transaction.get_data_ptr(), transaction.get_data_length());
}

/// Copies the program's bytes. A fault of reading them counts as the kernel's.
void ByteAccesses::write(Wave& wave) {
  const t3_bytes& asked = wave.waiting->bytes;
  Transaction& transaction = real_bytes(Operation::store, asked.address, asked.bytes, false);
  {
    const KernelTime time(host_, code_of(wave));
    std::memcpy(transaction.get_data_ptr(), asked.written, asked.bytes);
  }
  if (!accesses_.is_own(asked.address)) transaction.extension().ring = agreement_.sent;
  accesses_.issue(wave, transaction, accesses_.pass_port(wave, asked.bytes));
}

/// Its data are real in every run.
void ByteAccesses::fetch_add(Wave& wave) {
  const t3_integer& integer = wave.waiting->integer;
  Transaction& transaction = host_.pool().make(Operation::fetch_add, integer.address, {1, integer.bytes, 0});
  transaction.extension().cached = false;
  transaction.extension().addend = integer.addend;
  transaction.attach_buffer();
  wave.ends_later = true;
  accesses_.issue(wave, transaction, accesses_.behind_stores(wave, integer.address));
}

void ByteAccesses::tell_old(const Wave& wave, const Transaction& transaction) {
  const KernelTime time(host_, code_of(wave));
  *wave.waiting->integer.done = transaction.is_response_ok();
  if (transaction.is_response_ok())
    std::memcpy(wave.waiting->integer.old, transaction.get_data_ptr(), transaction.get_data_length());
}

void ByteAccesses::signal(Wave& wave) {
  const t3_counter& counter = wave.waiting->counter;
  Transaction& transaction = host_.pool().make(Operation::store, counter.address, {1, 8, 0});
  transaction.extension().cached = false;
  if (agreement_.sent != nullptr) {
    const auto signal = std::make_shared<RingSignal>(*agreement_.sent);
    signal->stored = {counter.stored.begin, counter.stored.end};
    signal->failure = static_cast<std::uint32_t>(host_.failure());
    transaction.extension().ring = signal;
  }
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 1;
  wave.ends_later = true;
  accesses_.issue(wave, transaction, accesses_.behind_stores(wave, counter.address));
}

void ByteAccesses::await(Wave& wave) {
  const t3_counter& counter = wave.waiting->counter;
  Transaction& transaction = host_.pool().make(Operation::wait, counter.address, {1, 8, 0});
  transaction.extension().threshold = counter.threshold;
  transaction.extension().ring = agreement_.expected;
  wave.ends_later = true;
  accesses_.issue(wave, transaction, 0);
}

void ByteAccesses::read_polled(Wave& wave, Picoseconds delay) {
  const t3_condition& condition = wave.waiting->poll.condition;
  accesses_.issue(wave, real_bytes(Operation::load, condition.address, condition.bytes, condition.cached), delay);
}

/// An agreement is with one neighbour, known by its position in the ring, which need not be the number of its GPU.
Refusal ByteAccesses::validate_signal(const t3_counter& counter) const {
  if (agreement_.sent == nullptr) return {};
  const std::uint64_t to = address_map::gpu_of(counter.address);
  const std::uint32_t receiver = agreement_.sent->receiver;
  const bool is_neighbour = to == host_.gpu() ? receiver == agreement_.expected->receiver : to != address_map::all_gpus;
  if (is_neighbour) return {};
  return refused(Status::aborted, "a signal to {}: its agreement's receiver is GPU {} of the ring, which is expected",
                 to == address_map::all_gpus ? "all GPUs" : fmt::format("its own GPU {}", to), receiver);
}

}  // namespace t3vp::compute
