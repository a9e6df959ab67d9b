// `check` races: finds loads, stores and updates of data that nothing orders with an earlier access to the same bytes.
// Plain C++. Blocks tell it the order, and taps between sockets show it the accesses.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "protocol/order_observer.h"
#include "protocol/violations.h"
#include "races/history.h"
#include "races/order.h"

namespace t3vp::races {

class RaceDetector : public OrderObserver {
 public:
  explicit RaceDetector(std::uint32_t gpus) : gpus_(gpus) {}

  // Taps.

  struct Request {
    OrderPoint order = 0;  ///< 0: nobody's whom the order knows; it is not looked at
    Operation operation = Operation::load;
    ElementType element = ElementType::fp16;
    bool is_flag = false;  ///< of control, with real data: flags, queues and counters
    std::uint64_t address = 0;
    Shape shape;
    Picoseconds time = 0;
  };
  void requested(const Request& request);
  /// The response shows that it has been done.
  void responded(const Request& request);

  // A host's accesses, by the GPU's number. Short reads of memory may be polls, and are behind what they may have seen.
  // So are those of what has a flag in it, and a flag may be written behind any.
  void host_reads(std::uint16_t gpu, std::uint64_t address, std::uint64_t bytes, Picoseconds time);
  void host_writes(std::uint16_t gpu, std::uint64_t address, std::uint64_t bytes, Picoseconds time);
  void host_has_written_register(std::uint16_t gpu);
  /// Memory begins or ends to be somebody's: what has been there before is no longer of interest.
  void forget(std::uint64_t address, std::uint64_t bytes) { history_.forget(address, address + bytes); }

  const Violations& found() const { return found_; }

  // OrderObserver
  OrderPoint join(OrderPoint one, OrderPoint other) override { return order_.join(one, other); }
  std::uint32_t begin_waves(std::uint16_t gpu, const std::string& kernel, std::uint32_t waves_per_workgroup,
                            std::uint32_t waves, OrderPoint behind) override {
    return order_.begin_waves(gpu, kernel, waves_per_workgroup, waves, behind);
  }
  OrderPoint point_of_wave(std::uint32_t wave) override { return order_.point_of(wave); }
  void let_waves_follow(std::uint32_t first_wave, std::uint32_t waves, OrderPoint point) override {
    for (std::uint32_t wave = first_wave; wave < first_wave + waves; ++wave) order_.acquire_by(wave, point);
  }
  void meet(std::uint32_t first_wave, std::uint32_t waves) override { order_.meet(first_wave, waves); }
  OrderPoint end_waves(std::uint32_t first_wave, std::uint32_t waves) override {
    return order_.end_waves(first_wave, waves);
  }
  OrderPoint point_of(std::uint16_t gpu, const char* agent) override {
    return order_.point_of(order_.agent(gpu, agent));
  }
  OrderPoint release(std::uint16_t gpu, const char* agent) override;
  void follow(std::uint16_t gpu, const char* agent, OrderPoint point) override {
    order_.acquire_by(order_.agent(gpu, agent), point);
  }
  OrderPoint begin_transfer(std::uint16_t gpu, const char* agent, OrderPoint behind) override {
    return order_.begin_transfer(gpu, agent, behind);
  }
  void show(std::uint64_t address, OrderPoint point) override;
  void exchange(std::uint16_t gpu) override;

 private:
  void note(const Access& access, std::uint64_t address, const Shape& shape);
  void report(const Access& access, std::uint64_t bytes, const Race& race);
  void follow_writes(Agent agent, std::uint64_t begin, std::uint64_t end);
  void follow_shown(Agent agent, std::uint64_t address);

  std::uint32_t gpus_;
  Order order_;
  History history_{order_};
  std::unordered_map<std::uint64_t, OrderPoint> shown_;  ///< by register or block
  OrderPoint exchanged_ = 0;
  std::vector<Race> races_;  ///< of the access that is being noted
  /// Both agents' kinds and operations: each is reported once, since a mistake shows on all GPUs and workgroups.
  std::set<std::tuple<std::string, std::string, Operation, Operation>> reported_;
  Violations found_;
};

}  // namespace t3vp::races
