// What a GPU does in a collective on a ring, step by step. Plain arithmetic.
//
// The buffer has a part for each place of the ring, and the GPU at place p owns part p. At step s the GPU at place p
// works on part p - 1 - s: a sum begins at the place behind its owner's, and each place adds what it has. At step
// gpus - 1 it is the own part, whose sum is complete. From then on complete parts go round.
#pragma once

#include <cstdint>
#include <optional>

namespace t3vp::endpoint {

enum class RingOperation : std::uint8_t { reduce_scatter, all_gather, all_reduce };

struct RingPlan {
  RingOperation operation = RingOperation::all_reduce;
  std::uint64_t bytes = 0;  ///< of the buffer, a multiple of `granularity`
  std::uint32_t place = 0, gpus = 2;

  static constexpr std::uint64_t granularity = 32;

  std::uint32_t first_step() const { return operation == RingOperation::all_gather ? gpus - 1 : 0; }
  std::uint32_t last_step() const { return operation == RingOperation::reduce_scatter ? gpus - 1 : 2 * gpus - 2; }
  bool receives(std::uint32_t step) const { return step != first_step(); }
  bool loads(std::uint32_t step) const { return step < gpus; }
  bool stores(std::uint32_t step) const { return receives(step) && step >= gpus - 1; }
  bool sends(std::uint32_t step) const { return step != last_step(); }
  /// Sums are not complete before it.
  bool is_complete(std::uint32_t step) const { return step >= gpus - 1; }

  std::uint32_t part_at(std::uint32_t step) const { return (place + 2 * gpus - 1 - step) % gpus; }
  /// Offset of a part in the buffer; it ends where the next one begins.
  std::uint64_t begin_of(std::uint32_t part) const { return bytes / granularity * part / gpus * granularity; }
  std::uint64_t bytes_of(std::uint32_t part) const { return begin_of(part + 1) - begin_of(part); }
};

/// Bytes of the buffer that a GPU works on at once: it receives, loads, stores and sends them, or some of that.
struct RingMessage {
  std::uint32_t step = 0;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

/// The order in which every GPU of the ring works on messages. Parts are cut in rounds; in a round each step has as
/// many messages as `per_step` says, or fewer. So a message comes in as the `per_step`-th before the one that goes out.
class RingOrder {
 public:
  RingOrder(const RingPlan& plan, std::uint32_t message_bytes, std::uint32_t per_step);

  /// The next message that is not empty. There is one until is_at_end().
  RingMessage next();
  bool is_at_end() const { return !upcoming_; }

 private:
  std::optional<RingMessage> find();

  RingPlan plan_;
  std::uint64_t message_bytes_;
  std::uint64_t per_step_, rounds_;
  std::uint64_t round_ = 0, number_ = 0;
  std::uint32_t step_;
  std::optional<RingMessage> upcoming_;
};

}  // namespace t3vp::endpoint
