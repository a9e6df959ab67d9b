// Calls of kernels that all GPUs make, and atomics, on odd numbers of GPUs too.
#include <catch2/catch.hpp>
#include <cstring>

#include "driver_errors/shmem_runs.h"
#include "report/report.h"

namespace t3vp::test::shmem_collectives_test {

using namespace shmem_runs;

namespace {

/// Runs the case on so many GPUs, all of which have to end well.
void require_run(Case what, std::uint32_t gpus, const std::string& data = "functional") {
  what.collectives = true;
  require_ended(run(what, {"gpus=" + std::to_string(gpus), "data=" + data}), gpus);
  for (std::uint32_t g = 0; g < gpus; ++g) CHECK(closed[g] == T3_OK);
}

std::array<std::uint64_t, gpus_max> seen;

/// Each GPU puts the round to all others, with GPU 1 late, and meets them; then all read what they have.
void meet(t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
  const std::uint32_t me = t3_shmem_my_pe(shmem), count = t3_shmem_n_pes(shmem);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    std::uint64_t unused = 0;
    for (std::uint32_t late = 0; me == 1 && late < 50; ++late) (void)t3_read(wave, told.flags, 8, &unused);
    for (std::uint32_t i = 1; i < count; ++i)
      t3_shmem_uint64_p(wave, shmem, told.flags + 8 + 8 * me, round, (me + i) % count);
    t3_shmem_barrier_all(wave, shmem);
    for (std::uint64_t g = 0; g < count; ++g) {
      std::uint64_t value = round;
      if (g != me) (void)t3_read(wave, told.flags + 8 + 8 * g, 8, &value);
      seen[me] += value == round ? 1U : 0U;
    }
    t3_shmem_barrier_all(wave, shmem);
  }
}

void require_meetings(std::uint32_t gpus, const std::string& data = "functional") {
  seen.fill(0);
  require_run({meet}, gpus, data);
  for (std::uint32_t g = 0; g < gpus; ++g) CHECK(seen[g] == 3 * gpus);
}

constexpr std::uint64_t block = 4098;  // more than a copy takes at once

void require_blocks(std::uint32_t gpus) {
  require_run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                t3_shmem_alltoallmem(wave, shmem, told.target, told.source, block, 0);
              }},
              gpus);
  for (std::uint32_t g = 0; g < gpus; ++g)
    for (std::uint64_t from = 0; from < gpus; ++from)
      for (std::uint64_t i = 0; i < block; ++i) {
        INFO("GPU " << g << ", block " << from << ", byte " << i);
        REQUIRE(targets[g][from * block + i] == pattern(from, g * block + i));
      }
}

/// All GPUs but 0 add to integers of GPU 0 and of the next GPU.
void require_sums(std::uint32_t gpus) {
  seen.fill(0);
  require_run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                const std::uint32_t me = t3_shmem_my_pe(shmem);
                for (std::uint64_t i = 0; me != 0 && i < 10; ++i) {
                  const std::uint64_t fetch = told.flags + 512 + 8 * i;
                  std::uint64_t old = 0;
                  t3_shmem_uint64_atomic_add(wave, shmem, told.flags + 8, me, 0);
                  if (i % 2 == 0) {
                    t3_shmem_uint64_atomic_fetch_add(wave, shmem, fetch, told.flags, 1, 0);
                  } else {
                    t3_shmem_uint64_atomic_fetch_add_nbi(wave, shmem, fetch, told.flags, 1, 0);
                    t3_shmem_quiet(wave, shmem);
                  }
                  (void)t3_read(wave, fetch, 8, &old);
                  seen[me] |= std::uint64_t{1} << old;
                }
                t3_shmem_barrier_all(wave, shmem);
              }},
              gpus);
  const std::uint64_t adds = 10 * (gpus - 1);
  CHECK(flag_of(0, 0) == adds);
  CHECK(flag_of(0, 1) == 10 * gpus * (gpus - 1) / 2);
  std::uint64_t all = 0;
  for (std::uint32_t g = 1; g < gpus; ++g) {
    CHECK((all & seen[g]) == 0);
    all |= seen[g];
  }
  CHECK(all == (std::uint64_t{1} << adds) - 1);
}

/// Each GPU awaits the signals of all others, which add to one counter, and then its data.
void require_signals(std::uint32_t gpus) {
  seen.fill(0);
  require_run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                const std::uint32_t me = t3_shmem_my_pe(shmem), count = t3_shmem_n_pes(shmem);
                for (std::uint32_t i = 1; i < count; ++i)
                  t3_shmem_putmem_signal_nbi(wave, shmem, told.flags + 1024 + 64 * me, told.source, 61, told.flags, 3,
                                             T3_SHMEM_SIGNAL_ADD, (me + i) % count);
                (void)await_flag(wave, told.flags, 3 * (count - 1));
                for (std::uint64_t g = 0; g < count; ++g) {
                  std::array<unsigned char, 61> bytes{};
                  if (g == me) continue;
                  (void)t3_read(wave, told.flags + 1024 + 64 * g, 61, bytes.data());
                  for (std::uint64_t i = 0; i < bytes.size(); ++i) seen[me] += bytes[i] == pattern(g, i) ? 1U : 0U;
                }
                t3_shmem_quiet(wave, shmem);
              }},
              gpus);
  for (std::uint32_t g = 0; g < gpus; ++g) CHECK(seen[g] == 61 * (gpus - 1));
}

}  // namespace

TEST_CASE("a barrier of kernels waits for the last GPU and what was put: 2 GPUs") { require_meetings(2); }
TEST_CASE("a barrier of kernels waits for the last GPU and what was put: 3 GPUs") { require_meetings(3); }
TEST_CASE("a barrier of kernels waits for the last GPU and what was put: 5 GPUs") { require_meetings(5); }
TEST_CASE("a barrier of kernels is real in a run without data") { require_meetings(3, "timing-only"); }

TEST_CASE("kernels exchange blocks all to all: 2 GPUs") { require_blocks(2); }
TEST_CASE("kernels exchange blocks all to all: 3 GPUs") { require_blocks(3); }
TEST_CASE("kernels exchange blocks all to all: 5 GPUs") { require_blocks(5); }

TEST_CASE("kernels exchange blocks all to all in a run without data") {
  require_run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                t3_shmem_alltoallmem(wave, shmem, told.target, told.source, block, 0);
              }},
              3, "timing-only");
}

TEST_CASE("kernels add to integers of a GPU by the NIC and learn what was there: 2 GPUs") { require_sums(2); }
TEST_CASE("kernels add to integers of a GPU by the NIC and learn what was there: 3 GPUs") { require_sums(3); }
TEST_CASE("kernels add to integers of a GPU by the NIC and learn what was there: 5 GPUs") { require_sums(5); }

TEST_CASE("signals of several GPUs add up behind their data: 3 GPUs") { require_signals(3); }
TEST_CASE("signals of several GPUs add up behind their data: 5 GPUs") { require_signals(5); }

TEST_CASE("kernels get without waiting and have the bytes after a quiet: 5 GPUs") {
  require_run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                const std::uint32_t me = t3_shmem_my_pe(shmem), count = t3_shmem_n_pes(shmem);
                for (std::uint32_t i = 1; i < count; ++i) {
                  const std::uint32_t from = (me + i) % count;
                  t3_shmem_getmem_nbi(wave, shmem, told.target + 1001 * from, told.source + 77, 1001, from);
                }
                t3_shmem_quiet(wave, shmem);
              }},
              5);
  for (std::uint32_t g = 0; g < 5; ++g)
    for (std::uint64_t at = 0; at < 5 * 1001; ++at) {
      const std::uint64_t from = at / 1001;
      REQUIRE(targets[g][at] == (from == g ? 0 : pattern(from, 77 + at % 1001)));
    }
}

TEST_CASE("a fence orders what is put to all GPUs: 3 GPUs") {
  require_run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                const std::uint32_t me = t3_shmem_my_pe(shmem), count = t3_shmem_n_pes(shmem);
                for (std::uint32_t i = 1; i < count; ++i)
                  t3_shmem_putmem_nbi(wave, shmem, told.target + 5000 * me, told.source, 5000, (me + i) % count);
                t3_shmem_fence(wave, shmem);
                for (std::uint32_t i = 1; i < count; ++i)
                  t3_shmem_uint64_p(wave, shmem, told.flags + 8 * me, 1, (me + i) % count);
                for (std::uint32_t i = 1; i < count; ++i)
                  (void)await_flag(wave, told.flags + 8 * ((me + i) % count), 1);
                t3_shmem_quiet(wave, shmem);
              }},
              3);
  for (std::uint32_t g = 0; g < 3; ++g)
    for (std::uint64_t i = 0; i < 5000; ++i) REQUIRE(targets[g][5000 * ((g + 1) % 3) + i] == pattern((g + 1) % 3, i));
}

}  // namespace t3vp::test::shmem_collectives_test
