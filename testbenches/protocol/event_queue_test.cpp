#include "protocol/event_queue.h"

#include <catch2/catch.hpp>
#include <functional>
#include <ostream>
#include <random>

namespace t3vp::test::event_queue_test {

namespace {

/// Pops as the models do and notes when.
struct Consumer : sc_core::sc_module {
  struct Popped {
    Picoseconds time;
    int item;
    bool operator==(const Popped& other) const { return time == other.time && item == other.item; }
    friend std::ostream& operator<<(std::ostream& out, const Popped& p) { return out << p.item << " at " << p.time; }
  };
  EventQueue<int> queue{[this] { step(); }};
  std::vector<Popped> popped;
  unsigned activations = 0;
  std::function<void(int)> then = [](int) {};

  explicit Consumer(const sc_core::sc_module_name& name) : sc_module(name) {}
  void step() {
    ++activations;
    while (queue.ready()) {
      const int item = queue.pop();
      popped.push_back({now(), item});
      then(item);
    }
    queue.arm();
  }
};

void advance_to(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now())); }

}  // namespace

TEST_CASE("items leave by time, those of one time as they came") {
  std::mt19937 random(7);
  TimeOrdered<int> queue;
  REQUIRE(queue.empty());
  REQUIRE(queue.next_time() == never);
  std::vector<std::pair<Picoseconds, int>> reference;
  for (int i = 0; i < 5000; ++i) {
    if (reference.empty() || random() % 3 != 0) {
      const Picoseconds time = random() % 50;
      queue.push(time, i);
      const auto later = [](Picoseconds t, const auto& entry) { return t < entry.first; };
      reference.insert(std::upper_bound(reference.begin(), reference.end(), time, later), {time, i});
    } else {
      REQUIRE(queue.next_time() == reference.front().first);
      REQUIRE(queue.pop() == reference.front().second);
      reference.erase(reference.begin());
    }
    REQUIRE(queue.size() == reference.size());
  }
}

TEST_CASE("of one time, items from afar leave last, whenever they have come") {
  TimeOrdered<int> queue;
  queue.push(10, 3, From::afar);
  queue.push(20, 6, From::afar);
  queue.push(10, 1);
  queue.push(10, 4, From::afar);
  queue.push(20, 5);
  queue.push(10, 2);
  for (int expected = 1; expected <= 6; ++expected) CHECK(queue.pop() == expected);
}

TEST_CASE("an event queue wakes its owner at each item's time") {
  Consumer consumer("consumer");
  consumer.queue.push(300, 3);
  consumer.queue.push(100, 1);  // earlier than what it is armed for
  consumer.queue.push(100, 2);
  consumer.queue.push(500, 4);
  advance_to(1000);
  REQUIRE(consumer.popped == std::vector<Consumer::Popped>{{100, 1}, {100, 2}, {300, 3}, {500, 4}});
  REQUIRE(consumer.activations == 3);
  REQUIRE(consumer.queue.empty());
}

TEST_CASE("what is due in the past comes now") {
  Consumer consumer("consumer");
  advance_to(700);
  consumer.queue.push(100, 1);
  advance_to(701);
  REQUIRE(consumer.popped == std::vector<Consumer::Popped>{{700, 1}});
}

TEST_CASE("items pushed while the owner pops are not lost") {
  Consumer consumer("consumer");
  consumer.then = [&](int item) {
    if (item >= 100) return;
    consumer.queue.push(now(), item + 100);       // in the same activation
    consumer.queue.push(now() + 10, item + 200);  // later
  };
  consumer.queue.push(50, 1);
  consumer.queue.push(60, 2);
  advance_to(1000);
  REQUIRE(consumer.popped ==
          std::vector<Consumer::Popped>{{50, 1}, {50, 101}, {60, 2}, {60, 201}, {60, 102}, {70, 202}});
}

TEST_CASE("random pushes in time order and at random times all come out on time") {
  Consumer consumer("consumer");
  std::mt19937 random(8);
  std::size_t pushed = 0;
  while (pushed < 3000) {
    for (std::uint64_t i = random() % 4; i > 0; --i) {
      const Picoseconds time = now() + random() % 40;
      consumer.queue.push(time, static_cast<int>(time));
      ++pushed;
    }
    advance_to(now() + random() % 20);
  }
  advance_to(now() + 100);
  REQUIRE(consumer.popped.size() == pushed);
  for (const Consumer::Popped& p : consumer.popped) REQUIRE(p.time == static_cast<Picoseconds>(p.item));
}

}  // namespace t3vp::test::event_queue_test
