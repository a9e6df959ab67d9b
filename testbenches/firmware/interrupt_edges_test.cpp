// Handlers on simulated processors that run ahead of time: interrupts arrive at, just before and just after the edges
// of quanta, while firmware runs ahead, waits, and is in the driver.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "guests/native_hal.h"
#include "processor/signalling_ring.h"
#include "t3/registers/signals.h"
#include "t3/t3.h"

namespace t3vp::test::interrupt_edges_test {

using namespace processor;

namespace {

constexpr Picoseconds quanta[] = {1'000, 7'000, 71'000, 1'000'000, 9'999'000};
constexpr std::size_t events = 250;
constexpr std::size_t sizes[] = {1, 3};

/// When a counter changes: an edge of one of the quanta or a picosecond beside it, or any time, sometimes in quick
/// succession.
std::vector<Picoseconds> event_times(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Picoseconds> times;
  Picoseconds time = 5'000'000;
  while (times.size() < events) {
    time += random() % (random() % 4 == 0 ? 100'000 : 5'000'000) + 2;
    const Picoseconds quantum = quanta[random() % std::size(quanta)];
    const Picoseconds edge = (time + quantum - 1) / quantum * quantum;
    const Picoseconds beside = edge - 1 + random() % 3;
    time = random() % 5 == 0 ? time : beside;
    times.push_back(time);
  }
  return times;
}

struct Heard {
  std::uint64_t time_ns, value;
};

/// Firmware of one GPU with a handler for its signals, and where those come from.
class Player {
 public:
  Player(SignallingGpu& gpu, unsigned seed, std::vector<Picoseconds> times)
      : gpu_(gpu), times_(std::move(times)), seed_(seed) {
    gpu.processor.run([this](processor::CommandProcessor& processor) { return static_cast<Status>(play(processor)); });
    sc_core::sc_spawn([this] {
      for (const Picoseconds time : times_) {
        sc_core::wait(to_sc_time(time - now()));
        gpu_.add(0, 1);
      }
    });
  }

  const std::vector<Heard>& heard() const { return heard_; }

  /// A call of the handler begins after each change, soon, and sees it.
  void require_none_lost() const {
    REQUIRE(gpu_.processor.finished());
    REQUIRE(gpu_.processor.status() == Status::ok);
    std::size_t call = 0;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      while (call < heard_.size() && heard_[call].time_ns * 1'000 + 999 < times_[i]) ++call;
      CAPTURE(i, times_[i]);
      REQUIRE(call < heard_.size());
      REQUIRE(heard_[call].value > i);
      REQUIRE(heard_[call].time_ns * 1'000 < times_[i] + longest);
    }
  }

 private:
  static constexpr Picoseconds longest = 6'000'000;  ///< interrupts held off, and what the handler does first

  t3_status play(processor::CommandProcessor& processor) {
    Arguments none;
    NativePlatform platform{processor, none};
    const t3_hal hal = native_hal(platform);
    T3_TRY(t3_init(&context_, &hal));
    T3_TRY(t3_set_handler(
        &context_, T3_LINE_SIGNALS, 1,
        [](t3_context* context, const t3_interrupt*, void* self) { static_cast<Player*>(self)->hear(*context); },
        this));
    std::mt19937 random(seed_ + 1);
    const std::uint64_t end_ns = times_.back() / 1000 + 10'000;
    while (hal.time_ns(hal.platform) < end_ns) {
      const std::uint64_t watch = gpu_.base(address_map::Block::signals) + T3_SIGNALS_WATCH_OFFSET;
      const std::uint32_t what = static_cast<std::uint32_t>(random() % 5);
      if (what == 0) {
        hal.lock(hal.platform);
        for (std::uint64_t i = random() % 30; i > 0; --i) T3_TRY(hal.write32(hal.platform, watch, 0));  // runs ahead
        hal.unlock(hal.platform);
      }
      if (what == 1) hal.wait_ns(hal.platform, random() % 20'000);
      if (what == 2) T3_TRY(t3_wait_kernels(&context_));  // at once, but under the lock
      if (what == 3) {
        const t3_status woken = hal.wait_for_interrupt(
            hal.platform, std::min(end_ns, hal.time_ns(hal.platform) + random() % 9'000), "something");
        if (woken != T3_OK && woken != T3_TIMEOUT) return woken;
      }
      if (what == 4) hal.wait_ns(hal.platform, 0);
    }
    return t3_set_handler(&context_, T3_LINE_SIGNALS, 0, nullptr, nullptr);
  }

  void hear(t3_context& context) {
    const t3_hal& hal = *t3_hal_of(&context);
    const std::uint64_t time_ns = hal.time_ns(hal.platform);
    std::uint64_t value = 0;
    hal.read64(hal.platform, gpu_.base(address_map::Block::signals), &value);
    heard_.push_back({time_ns, value});
  }

  SignallingGpu& gpu_;
  std::vector<Picoseconds> times_;
  unsigned seed_;
  t3_context context_{};
  std::vector<Heard> heard_;
};

/// The same firmware and signals at all quanta, on one GPU and on three.
using Players = std::vector<std::vector<std::unique_ptr<Player>>>;  // of each quantum

template <typename Times>
void run(std::vector<std::unique_ptr<SignallingRing>>& rings, Players& players, Times times) {
  for (const Picoseconds quantum : quanta) {
    players.emplace_back();
    for (const std::size_t size : sizes) {
      rings.push_back(std::make_unique<SignallingRing>("ring" + std::to_string(size) + "_" + std::to_string(quantum),
                                                       static_cast<std::uint16_t>(size), quantum));
      for (std::size_t g = 0; g < size; ++g) {
        const auto seed = static_cast<unsigned>(100 * size + 7 * g);
        players.back().push_back(std::make_unique<Player>((*rings.back())[g], seed, times(seed)));
      }
    }
  }
  sc_core::sc_start();
}

}  // namespace

TEST_CASE("no interrupt is lost at a quantum's edge") {
  std::vector<std::unique_ptr<SignallingRing>> rings;
  Players players;
  run(rings, players, event_times);
  for (std::size_t q = 0; q < std::size(quanta); ++q)
    for (std::size_t p = 0; p < players[q].size(); ++p) {
      INFO("quantum " << quanta[q] << " ps, processor " << p);
      players[q][p]->require_none_lost();
      REQUIRE(players[q][p]->heard().size() > events / 3);
    }
}

}  // namespace t3vp::test::interrupt_edges_test
