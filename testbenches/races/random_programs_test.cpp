// Random programs of a few agents: loads, stores and updates of a few bytes, and releases that others acquire. The
// reference holds each pair of accesses against the graph of what comes before what.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "races/history.h"
#include "races/order.h"

namespace t3vp::test::random_programs_test {

using namespace races;

namespace {

constexpr std::uint32_t agents = 4, bytes_most = 12;

struct Event {
  std::uint32_t agent = 0;
  bool is_access = false;
  Operation operation = Operation::load;
  ElementType element = ElementType::fp16;
  std::uint64_t begin = 0, end = 0;
  std::vector<std::size_t> before;  ///< events that it comes directly behind
};

bool conflict(const Event& a, const Event& b) {
  if (!a.is_access || !b.is_access || a.agent == b.agent || a.begin >= b.end || b.begin >= a.end) return false;
  if (a.operation == Operation::load && b.operation == Operation::load) return false;
  return !(a.operation == Operation::update && b.operation == Operation::update && a.element == b.element);
}

/// A program in an order in which it may have run.
class Program {
 public:
  explicit Program(std::uint32_t seed) : random_(seed) {
    const std::uint32_t events = 4 + draw(40), syncs = 1 + draw(4);
    std::vector<std::size_t> latest(agents, none), released(3, none);
    for (std::size_t i = 0; i < events; ++i) {
      Event event;
      event.agent = draw(agents);
      if (latest[event.agent] != none) event.before.push_back(latest[event.agent]);
      event.is_access = draw(5) >= syncs;
      if (event.is_access) {
        event.operation = static_cast<Operation>(draw(3));
        event.element = draw(4) == 0 ? ElementType::fp32 : ElementType::fp16;
        event.begin = draw(bytes_most);
        event.end = event.begin + 1 + draw(4);
      } else {
        std::size_t& place = released[draw(3)];
        if (draw(2) == 0)
          place = i;
        else if (place != none)
          event.before.push_back(place);
      }
      latest[event.agent] = i;
      events_.push_back(event);
    }
  }

  bool has_race() const {
    std::vector<std::vector<bool>> comes_before(events_.size(), std::vector<bool>(events_.size()));
    for (std::size_t i = 0; i < events_.size(); ++i)
      for (const std::size_t direct : events_[i].before) {
        comes_before[direct][i] = true;
        for (std::size_t k = 0; k < i; ++k)
          if (comes_before[k][direct]) comes_before[k][i] = true;
      }
    for (std::size_t i = 0; i < events_.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (conflict(events_[i], events_[k]) && !comes_before[k][i]) return true;
    return false;
  }

  /// Whether the detector's parts find a race.
  bool is_found() const {
    Order order;
    History history(order);
    const Agent first = order.begin_waves(0, "random", 1, agents, 0);
    std::vector<OrderPoint> released(events_.size());
    std::vector<Race> races;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      const Agent agent = first + event.agent;
      if (event.is_access) {
        History::Noted noted(history, {order.point_of(agent), event.operation, event.element, false, i});
        noted.bytes(event.begin, event.end, races);
        continue;
      }
      for (const std::size_t direct : event.before)
        if (events_[direct].agent != event.agent) order.acquire_by(agent, released[direct]);
      released[i] = order.point_of(agent);
      order.release_by(agent);
    }
    return !races.empty();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  std::uint32_t draw(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  std::mt19937 random_;
  std::vector<Event> events_;
};

}  // namespace

TEST_CASE("a race is found exactly when two accesses conflict and neither comes before the other") {
  int with = 0, without = 0;
  for (std::uint32_t seed = 1; seed <= 20'000; ++seed) {
    const Program program(seed);
    const bool has = program.has_race();
    ++(has ? with : without);
    if (program.is_found() == has) continue;
    INFO("seed " << seed);
    REQUIRE(program.is_found() == has);
  }
  CHECK(with > 1000);
  CHECK(without > 1000);
}

}  // namespace t3vp::test::random_programs_test
