#include "endpoint/ring_plan.h"

#include <algorithm>

namespace t3vp::endpoint {
namespace {

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

std::uint64_t largest_part(const RingPlan& plan) {
  return divide_up(plan.bytes / RingPlan::granularity, plan.gpus) * RingPlan::granularity;
}

}  // namespace

RingOrder::RingOrder(const RingPlan& plan, std::uint32_t message_bytes, std::uint32_t per_step)
    : plan_(plan),
      message_bytes_(message_bytes),
      per_step_(std::min<std::uint64_t>(per_step, divide_up(largest_part(plan), message_bytes))),
      rounds_(divide_up(largest_part(plan), message_bytes * per_step_)),
      step_(plan.first_step()),
      upcoming_(find()) {}

RingMessage RingOrder::next() {
  const RingMessage message = *upcoming_;
  upcoming_ = find();
  return message;
}

/// Goes on to the next place in the order whose part has bytes there.
std::optional<RingMessage> RingOrder::find() {
  while (round_ < rounds_) {
    const std::uint32_t part = plan_.part_at(step_);
    const std::uint64_t in_part = (round_ * per_step_ + number_) * message_bytes_, whole = plan_.bytes_of(part);
    const RingMessage message{
        step_, plan_.begin_of(part) + in_part,
        static_cast<std::uint32_t>(in_part < whole ? std::min(message_bytes_, whole - in_part) : 0)};
    if (++number_ == per_step_) {
      number_ = 0;
      if (step_++ == plan_.last_step()) {
        step_ = plan_.first_step();
        ++round_;
      }
    }
    if (message.bytes != 0) return message;
  }
  return {};
}

}  // namespace t3vp::endpoint
