#include "compute/fiber.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace t3vp::test::fiber_test {

using namespace compute;

namespace {

constexpr std::size_t stack_bytes = 16 << 10;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool with_guard_pages = true;
#else
constexpr bool with_guard_pages = false;
#endif

/// Yields `count` numbers from `first` on.
struct Counter {
  Fiber fiber;
  int first = 0, count = 0;
  int last = 0;

  static void run(void* argument) {
    auto& counter = *static_cast<Counter*>(argument);
    for (int i = 0; i < counter.count; ++i) {
      counter.last = counter.first + i;
      counter.fiber.yield(&counter.last);
    }
  }
  /// The next number, -1 at the end.
  int next() {
    const void* yielded = fiber.resume();
    return yielded == nullptr ? -1 : *static_cast<const int*>(yielded);
  }
};

/// Writes that many bytes on its stack, from the top down.
struct Writer {
  Fiber fiber;
  std::size_t bytes = 0;

  __attribute__((noinline)) static unsigned char descend(std::size_t left) {
    volatile unsigned char here[256];
    for (volatile unsigned char& byte : here) byte = 0x55;
    return left <= sizeof here ? here[0] : static_cast<unsigned char>(descend(left - sizeof here) + here[1]);
  }
  static void run(void* argument) {
    auto& writer = *static_cast<Writer*>(argument);
    const unsigned char sum = descend(writer.bytes);
    writer.fiber.yield(sum == 0 ? nullptr : &writer);
  }
};

}  // namespace

TEST_CASE("programs on fibers go on where they have yielded whatever the order of the others") {
  FiberStacks stacks(stack_bytes);
  std::vector<Counter> counters(200);
  int number = 0;
  for (Counter& counter : counters) {
    counter.first = 1000 * number;
    counter.count = number++ % 7;
    counter.fiber.start(stacks.take(), &Counter::run, &counter);
  }
  for (int round = 0; round < 8; ++round)
    for (auto counter = counters.rbegin(); counter != counters.rend(); ++counter) {
      const int expected = round < counter->count ? counter->first + round : -1;
      REQUIRE(counter->next() == expected);
      REQUIRE(counter->fiber.intact());
    }
}

TEST_CASE("a program that is forgotten leaves its stack to the next one") {
  FiberStacks stacks(stack_bytes);
  const FiberStack stack = stacks.take();
  for (int round = 0; round < 100; ++round) {
    Counter counter;
    counter.first = round, counter.count = 5;
    counter.fiber.start(stack, &Counter::run, &counter);
    REQUIRE(counter.next() == round);
    REQUIRE(counter.next() == round + 1);
  }
}

TEST_CASE("a program on a fiber is aligned for every instruction and keeps the rounding mode") {
  struct Probe {
    Fiber fiber;
    std::uintptr_t misaligned = 1;
    double third = 0;
    static void run(void* argument) {
      auto& probe = *static_cast<Probe*>(argument);
      alignas(16) volatile double here[2] = {1, 3};
      probe.misaligned = reinterpret_cast<std::uintptr_t>(&here[0]) % 16;
      probe.third = here[0] / here[1];
    }
  };
  FiberStacks stacks(stack_bytes);
  Probe probe;
  probe.fiber.start(stacks.take(), &Probe::run, &probe);
  REQUIRE(probe.fiber.resume() == nullptr);
  REQUIRE(probe.misaligned == 0);
  REQUIRE(probe.third == 1.0 / 3);
}

TEST_CASE("a program that uses more than its stack is found") {
  if (with_guard_pages) return;  // it does not come back
  FiberStacks stacks(stack_bytes);
  for (const std::size_t bytes : {1000u, 8000u}) {
    Writer writer;
    writer.bytes = bytes;
    writer.fiber.start(stacks.take(), &Writer::run, &writer);
    writer.fiber.resume();
    REQUIRE(writer.fiber.intact());
  }
  Writer writer;
  writer.bytes = stack_bytes + 500;
  // Below lies another stack of the same mapping that is not in use.
  stacks.take();
  const FiberStack stack = stacks.take();
  FiberStack higher = stacks.take();
  if (higher.bottom < stack.bottom) higher = stack;
  writer.fiber.start(higher, &Writer::run, &writer);
  writer.fiber.resume();
  REQUIRE(!writer.fiber.intact());
}

TEST_CASE("stacks do not overlap and those given back are used first") {
  FiberStacks stacks(stack_bytes);
  std::set<unsigned char*> bottoms;
  for (int i = 0; i < 300; ++i) {
    const FiberStack stack = stacks.take();
    REQUIRE(stack.bytes >= stack_bytes);
    std::memset(stack.bottom, i, stack.bytes);
    const auto next = bottoms.lower_bound(stack.bottom);
    REQUIRE((next == bottoms.end() || *next >= stack.bottom + stack.bytes));
    REQUIRE((next == bottoms.begin() || *std::prev(next) + stack.bytes <= stack.bottom));
    bottoms.insert(stack.bottom);
  }
  const FiberStack stack = stacks.take();
  stacks.give_back(stack);
  REQUIRE(stacks.take().bottom == stack.bottom);
}

}  // namespace t3vp::test::fiber_test
