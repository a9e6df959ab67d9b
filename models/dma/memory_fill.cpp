#include "dma/memory_fill.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/own_address.h"
#include "protocol/response_status.h"

namespace t3vp::dma {
namespace {
constexpr std::uint64_t piece_bytes = 4096;
}

MemoryFill::MemoryFill(registers::Dma& registers, DmaStatus& status, DmaAccesses& accesses, DataInitiatorBase& memory,
                       Users& users, const DmaParameters& parameters, bool functional, std::uint16_t gpu)
    : registers_(registers),
      status_(status),
      accesses_(accesses),
      memory_(memory),
      users_(users),
      parameters_(parameters),
      functional_(functional),
      gpu_(gpu) {}

void MemoryFill::begin() {
  const std::uint64_t base = registers_.fill_base.value(), bytes = registers_.fill_bytes.value();
  const auto refuse = [&](Status status, const std::string& text) { status_.refuse(status, base, text); };
  if (runs())
    return refuse(Status::busy, fmt::format("a fill runs, {:#x} bytes are left from {:#x} on: none before it has ended",
                                            left_ + outstanding_, next_ - outstanding_));
  if (base % 32 != 0 || bytes % 32 != 0)
    return refuse(Status::unaligned, fmt::format("fill of {} bytes at {:#x}: multiples of 32 expected", bytes, base));
  if (bytes == 0)
    return refuse(Status::invalid_argument, fmt::format("fill of 0 bytes at {:#x}: 32 or more expected", base));
  if (address_map::gpu_of(base) != gpu_ || !memory_.holds(base, bytes))
    return refuse(Status::bad_address, fmt::format("fill of {:#x} bytes at {:#x} is not all in the memory of GPU {}{}",
                                                   bytes, base, gpu_, number_hint(gpu_, base)));
  for (int i = 0; i < users_.size(); ++i)
    if (const std::string found = users_[i]->use_of({base, base + bytes}); !found.empty())
      return refuse(Status::busy, fmt::format("fill of {:#x} bytes at {:#x}: {}, and nothing is zeroed before that has "
                                              "ended",
                                              bytes, base, found));
  status_.accept();
  next_ = base;
  left_ = bytes;
  traffic_ = registers_.command.writes();
  if (accesses_.order() != nullptr)
    order_ = accesses_.begin_transfer(gpu_, accesses_.order()->point_of(gpu_, OrderObserver::program));
  go_on();
}

void MemoryFill::filled(Transaction& piece) {
  outstanding_ -= piece.get_data_length();
  if (piece.is_response_error()) {
    status_.fill_failed(status_of_data_access(piece));
    left_ = 0;
  }
  piece.release();
  go_on();
}

std::string MemoryFill::use_of(const OutputRange& range) const {
  const std::uint64_t begin = next_ - outstanding_, end = next_ + left_;
  if (!runs() || !range.overlaps(begin, end - begin)) return {};
  return fmt::format("a fill zeroes {:#x} to {:#x}", begin, end - 1);
}

void MemoryFill::go_on() {
  while (left_ != 0) {
    const auto bytes = static_cast<std::uint32_t>(std::min(left_, piece_bytes));
    if (!fits(parameters_.bytes_in_flight, outstanding_, bytes)) return;
    Transaction& transaction = accesses_.make(Operation::store, next_, {1, bytes, 0}, DmaAccesses::fill);
    transaction.extension().traffic = traffic_;
    transaction.extension().order = order_;
    if (functional_) transaction.attach_buffer();
    next_ += bytes;
    left_ -= bytes;
    outstanding_ += bytes;
    const AtCause leaving(cause_at(now() + parameters_.latency, Part::dma));
    memory_.send(transaction, parameters_.latency);
  }
  if (runs()) return;
  if (accesses_.order() != nullptr)
    accesses_.order()->show(address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::dma)), order_);
  status_.fill_ended();
}

}  // namespace t3vp::dma
