// The barrier on simulated rings in which only the previous GPU can be reached.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "guests/native_hal.h"
#include "processor/signalling_ring.h"
#include "t3/t3.h"

namespace t3vp::test::barrier_test {

using namespace processor;

namespace {

constexpr int barriers = 6;

/// The times at which every GPU entered and left each barrier.
struct Log {
  std::vector<std::array<Picoseconds, barriers>> entered, left;
};

void run_barriers(SignallingRing& ring, Log& log, unsigned seed) {
  log.entered.resize(ring.size());
  log.left.resize(ring.size());
  for (std::size_t g = 0; g < ring.size(); ++g) {
    ring[g].processor.run([&log, g, seed](processor::CommandProcessor& processor) {
      std::mt19937 random(seed + static_cast<unsigned>(g));
      Arguments none;
      NativePlatform platform{processor, none};
      const t3_hal hal = native_hal(platform);
      t3_context context;
      if (const t3_status status = t3_init(&context, &hal); status != T3_OK) return static_cast<Status>(status);
      for (std::size_t i = 0; i < barriers; ++i) {
        processor.wait_ns(random() % 7919);
        log.entered[g][i] = now();
        if (const t3_status status = t3_barrier(&context); status != T3_OK) return static_cast<Status>(status);
        processor.wait_ns(0);
        log.left[g][i] = now();
      }
      return Status::ok;
    });
  }
}

void require_separated(const Log& log) {
  for (std::size_t i = 0; i < barriers; ++i) {
    Picoseconds last_entered = 0, first_left = never;
    for (std::size_t g = 0; g < log.entered.size(); ++g) {
      last_entered = std::max(last_entered, log.entered[g][i]);
      first_left = std::min(first_left, log.left[g][i]);
    }
    REQUIRE(first_left >= last_entered);
  }
}

}  // namespace

TEST_CASE("no GPU leaves a barrier before the last one has entered it") {
  std::vector<std::unique_ptr<SignallingRing>> rings;
  std::vector<Log> logs(6);
  const std::uint16_t sizes[] = {1, 2, 3, 4, 5, 8};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    rings.push_back(std::make_unique<SignallingRing>("ring" + std::to_string(sizes[i]), sizes[i], 1'000'000));
    run_barriers(*rings.back(), logs[i], 17);
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    INFO(sizes[i] << " GPUs");
    for (std::size_t g = 0; g < sizes[i]; ++g) {
      REQUIRE((*rings[i])[g].processor.finished());
      REQUIRE((*rings[i])[g].processor.status() == Status::ok);
    }
    require_separated(logs[i]);
  }
}

TEST_CASE("a barrier that is taken up after a timeout tells its neighbour once") {
  SignallingRing ring("ring", 3, 1'000'000);
  std::size_t timeouts = 0;
  for (std::size_t g = 0; g < ring.size(); ++g)
    ring[g].processor.run([&timeouts, g](processor::CommandProcessor& processor) {
      Arguments none;
      NativePlatform platform{processor, none};
      const t3_hal hal = native_hal(platform);
      t3_context context;
      if (const t3_status status = t3_init(&context, &hal); status != T3_OK) return static_cast<Status>(status);
      if (g != 0) processor.wait_ns(20'000 * g);
      t3_set_timeout(&context, g == 0 ? 1'000 : T3_FOREVER);
      t3_status met = t3_barrier(&context);
      for (; met == T3_TIMEOUT; met = t3_barrier(&context)) ++timeouts;
      return static_cast<Status>(met);
    });
  sc_core::sc_start();
  REQUIRE(timeouts > 10);
  for (std::size_t g = 0; g < ring.size(); ++g) {
    REQUIRE(ring[g].processor.finished());
    REQUIRE(ring[g].processor.status() == Status::ok);
    REQUIRE(ring[g].signals.value[0].value() == ring.size() - 1);
  }
}

TEST_CASE("no signal is lost, at whatever moment of the other GPU's barrier it arrives") {
  // A barrier of two GPUs takes some register accesses of 100 ns; GPU 1 comes a little later each time.
  constexpr int rounds = 80;
  constexpr std::uint64_t apart_ns = 20'000, step_ns = 17;
  std::array<std::uint64_t, 2> longest_ns{};
  SignallingRing ring("ring", 2, 1'000'000);
  for (std::size_t g = 0; g < 2; ++g)
    ring[g].processor.run([g, &longest_ns](processor::CommandProcessor& processor) {
      Arguments none;
      NativePlatform platform{processor, none};
      const t3_hal hal = native_hal(platform);
      t3_context context;
      if (const t3_status status = t3_init(&context, &hal); status != T3_OK) return static_cast<Status>(status);
      for (std::uint64_t i = 1; i <= rounds; ++i) {
        const std::uint64_t begin_ns = i * apart_ns + g * i * step_ns;
        processor.wait_ns(begin_ns - now() / 1000);
        if (const t3_status status = t3_barrier(&context); status != T3_OK) return static_cast<Status>(status);
        processor.wait_ns(0);
        longest_ns[g] = std::max(longest_ns[g], now() / 1000 - begin_ns);
      }
      return Status::ok;
    });
  sc_core::sc_start();
  for (std::size_t g = 0; g < 2; ++g) {
    REQUIRE(longest_ns[g] < rounds * step_ns + 2'000);  // a lost one would be made up for by the next barrier's
    REQUIRE(ring[g].processor.waits_for().empty());
    REQUIRE(ring[g].processor.finished());
    REQUIRE(ring[g].processor.status() == Status::ok);
  }
}

TEST_CASE("a barrier takes the same time at any quantum") {
  SignallingRing fine("fine", 5, 1'000), coarse("coarse", 5, 1'000'000'000);
  Log fine_log, coarse_log;
  run_barriers(fine, fine_log, 3);
  run_barriers(coarse, coarse_log, 3);
  sc_core::sc_start();
  REQUIRE(fine_log.left.back().back() > 0);
  REQUIRE(fine_log.left == coarse_log.left);
}

TEST_CASE("a GPU whose neighbour never comes says what it waits for") {
  SignallingRing ring("ring", 2, 1'000'000);
  ring[0].processor.run([](processor::CommandProcessor& processor) {
    Arguments none;
    NativePlatform platform{processor, none};
    const t3_hal hal = native_hal(platform);
    t3_context context;
    t3_init(&context, &hal);
    return static_cast<Status>(t3_barrier(&context));
  });
  sc_core::sc_start();
  REQUIRE_FALSE(ring[0].processor.finished());
  REQUIRE(ring[0].processor.waits_for() == "the next GPU in a barrier");
  ring[0].processor.give_up_waiting();
  sc_core::sc_start();
  REQUIRE(ring[0].processor.status() == Status::stuck);
}

}  // namespace t3vp::test::barrier_test
