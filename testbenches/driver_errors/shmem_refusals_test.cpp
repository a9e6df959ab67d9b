// Refusals of the calls by NVSHMEM's names: signals, atomics, fences and collectives. Each ends the kernel by its text.
#include <catch2/catch.hpp>

#include "driver_errors/shmem_runs.h"

namespace t3vp::test::shmem_refusals_test {

using namespace shmem_runs;

namespace {

constexpr char no_counters[] = ": a heap that t3_shmem_init has opened with `collectives` expected";

}  // namespace

TEST_CASE("a signal that adds in a heap without collectives ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) {
        t3_shmem_putmem_signal_nbi(w, s, t.target, t.source, 64, t.flags, 1, T3_SHMEM_SIGNAL_ADD, 1);
      },
      std::string("t3_shmem_putmem_signal_nbi") + no_counters);
}

TEST_CASE("a signal outside of the heap ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) {
        t3_shmem_putmem_signal_nbi(w, s, t.target, t.source, 64, t.flags + 8 * piece, 1, T3_SHMEM_SIGNAL_SET, 1);
      },
      "t3_shmem_putmem_signal_nbi of 8 bytes at 0x");
}

TEST_CASE("an add in a heap without collectives ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_uint64_atomic_add(w, s, t.flags, 1, 1); },
      std::string("t3_shmem_uint64_atomic_add") + no_counters);
}

TEST_CASE("an atomic off its alignment ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_uint64_atomic_fetch_add(w, s, t.target, t.flags + 4, 1, 1); },
                  "t3_shmem_uint64_atomic_fetch_add of an integer of 8 bytes at 0x21804: a multiple of 8 expected");
}

TEST_CASE("an atomic whose result goes off its alignment ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_uint64_atomic_fetch_add_nbi(w, s, t.target + 2, t.flags, 1, 1); },
                  "t3_shmem_uint64_atomic_fetch_add_nbi of an integer of 8 bytes at 0x");
}

TEST_CASE("an atomic at the own GPU ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_uint64_atomic_fetch_add(w, s, t.target, t.flags, 1, 0); },
                  "t3_shmem_uint64_atomic_fetch_add with GPU 0: another one of 2 expected");
}

TEST_CASE("a get that does not wait ends the kernel when it is from outside of the heap") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_getmem_nbi(w, s, t.target, t.target + 8 * piece, 8, 1); },
                  "t3_shmem_getmem_nbi of 8 bytes at 0x");
}

TEST_CASE("a fence for a GPU that there is not ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments&, t3_shmem_ctx* s) { t3_shmem_pe_fence(w, s, 2); },
                  "t3_shmem_pe_fence with GPU 2: another one of 2 expected");
}

TEST_CASE("blocks that overlap end the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_alltoallmem(w, s, t.target, t.target + 96, 64, 0); },
                  "t3_shmem_alltoallmem of 2 blocks of 64 bytes from 0x", true);
}

TEST_CASE("blocks of odd size end the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_alltoallmem(w, s, t.target, t.source, 63, 0); },
      ": even numbers, and no common bytes, expected", true);
}

TEST_CASE("blocks beyond the heap end the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_alltoallmem(w, s, t.target, t.source, 8 * piece, 0); },
                  "t3_shmem_alltoallmem of 1048576 bytes at 0x", true);
}

TEST_CASE("blocks are exchanged in no heap without collectives") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_alltoallmem(w, s, t.target, t.source, 64, 0); },
      no_counters);
}

TEST_CASE("a barrier of kernels that one GPU does not come to is no hang") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    if (told.gpu == 0) t3_shmem_barrier_all(wave, shmem);
  }};
  what.collectives = true;
  what.leaves_heap = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_STUCK);
  CHECK(tells(result, "shmem: workgroup 0, wave 0 polls 8 bytes at 0x"));
  CHECK(tells(result, "at least 0x1 expected"));
}

}  // namespace t3vp::test::shmem_refusals_test
