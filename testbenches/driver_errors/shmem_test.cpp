// Kernels put, get and signal by their NICs in a symmetric heap.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "driver_errors/shmem_runs.h"
#include "report/report.h"

namespace t3vp::test::shmem_test {

using namespace shmem_runs;

namespace {

/// Odd pieces, one behind the other.
constexpr std::array<std::uint64_t, 8> sizes{1, 3, 63, 64, 65, 257, 4096, 4099};

std::uint64_t place_of(std::size_t i) {
  std::uint64_t at = 5;
  for (std::size_t before = 0; before < i; ++before) at += sizes[before] + 3;
  return at;
}

void require_pieces(std::uint32_t gpu, std::uint64_t from) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::uint64_t at = place_of(i) - 1; at <= place_of(i) + sizes[i]; ++at) {
      const bool inside = at >= place_of(i) && at < place_of(i) + sizes[i];
      INFO("size " << sizes[i] << " at " << at);
      REQUIRE(targets[gpu][at] == (inside ? pattern(from, at) : 0));
    }
}

}  // namespace

TEST_CASE("kernels put bytes of any number and a flag behind a fence") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      t3_shmem_putmem_nbi(wave, shmem, told.target + place_of(i), told.source + place_of(i), sizes[i], other(told));
    t3_shmem_fence(wave, shmem);
    t3_shmem_uint64_p(wave, shmem, told.flags + 8, 77, other(told));
    (void)await_flag(wave, told.flags + 8, 77);
    t3_shmem_quiet(wave, shmem);
  }});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g) require_pieces(g, 1 - g);
}

TEST_CASE("a kernel that has seen a signal finds what was put before it") {
  static std::array<std::array<unsigned char, 64>, 2> seen;
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    t3_shmem_putmem_signal_nbi(wave, shmem, told.flags + 4096, told.source + 4096, 61, told.flags, 5,
                               T3_SHMEM_SIGNAL_SET, other(told));
    (void)await_flag(wave, told.flags, 5);
    (void)t3_read(wave, told.flags + 4096, 61, seen[told.gpu].data());
    t3_shmem_quiet(wave, shmem);
  }});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g)
    for (std::uint64_t i = 0; i < 61; ++i) REQUIRE(seen[g][i] == pattern(1 - g, 4096 + i));
}

TEST_CASE("a kernel gets bytes of any number") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      t3_shmem_getmem(wave, shmem, told.target + place_of(i), told.source + place_of(i), sizes[i], other(told));
  }});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g) require_pieces(g, 1 - g);
}

TEST_CASE("many workgroups share contexts whose rings go round") {
  const RunResult result =
      run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
             for (std::uint64_t i = 0; i < 5; ++i) {
               const std::uint64_t at = 40 * (5 * wave->workgroup + i);
               t3_shmem_putmem_nbi(wave, shmem, told.target + at, told.source + at, 33, other(told));
             }
             t3_shmem_fence(wave, shmem);
             t3_shmem_uint64_p(wave, shmem, told.flags + 8 * wave->workgroup, 1000 + wave->workgroup, other(told));
             t3_shmem_quiet(wave, shmem);
           },
           48, 2, 4});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g)
    for (std::uint64_t w = 0; w < 48; ++w) {
      REQUIRE(flag_of(g, w) == 1000 + w);
      for (std::uint64_t i = 0; i < 5 * 40; ++i)
        REQUIRE(targets[g][200 * w + i] == (i % 40 < 33 ? pattern(1 - g, 200 * w + i) : 0));
    }
}

TEST_CASE("flags and queues are real in a run without data") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                                 t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 5000, other(told));
                                 t3_shmem_fence(wave, shmem);
                                 t3_shmem_uint64_p(wave, shmem, told.flags, 9, other(told));
                                 (void)await_flag(wave, told.flags, 9);
                                 t3_shmem_quiet(wave, shmem);
                               }},
                               {"data=timing-only"});
  require_ended(result);
  CHECK(flag_of(0, 0) == 9);
}

TEST_CASE("lost packets are sent again and nothing is missing") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                                 t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 50000, other(told));
                                 t3_shmem_quiet(wave, shmem);
                               }},
                               {R"(inject={"drop_packets": {"gpu": 0, "count": 3}})"});
  CAPTURE(result.diagnosis);
  for (std::uint32_t g = 0; g < 2; ++g) {
    REQUIRE(ended[g] == T3_OK);
    for (std::uint64_t i = 0; i < 50000; ++i) REQUIRE(targets[g][i] == pattern(1 - g, i));
  }
}

TEST_CASE("a heap is closed when the last put has ended") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                                 t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 60000, other(told));
                               }},
                               {"system.host.exchange_ns=1"});
  require_ended(result);
  CHECK(closed[0] == T3_OK);
  CHECK(closed[1] == T3_OK);
}

TEST_CASE("pieces of a heap are freed and taken again") {
  Case what{[](t3_wave*, const Arguments&, t3_shmem_ctx*) {}};
  what.before = [](Program& p) {
    std::array<std::uint64_t, 4> at{};
    for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(t3_shmem_malloc(&p.gpu, &p.heap, 1000 + i, &at[i]) == T3_OK);
    for (std::size_t i = 1; i < 4; ++i) CHECK(at[i] == at[i - 1] + 1024);
    std::uint64_t again = 0;
    REQUIRE(t3_shmem_free(&p.gpu, &p.heap, at[1]) == T3_OK);
    CHECK(t3_shmem_free(&p.gpu, &p.heap, at[1]) == T3_INVALID_ARGUMENT);
    REQUIRE(t3_shmem_malloc(&p.gpu, &p.heap, 1025, &again) == T3_OK);
    CHECK(again == at[3] + 1024);
    REQUIRE(t3_shmem_malloc(&p.gpu, &p.heap, 1024, &again) == T3_OK);
    CHECK(again == at[1]);
    CHECK(t3_shmem_malloc(&p.gpu, &p.heap, 8 * piece, &again) == T3_OUT_OF_MEMORY);
    while (p.heap.piece_count < T3_SHMEM_PIECES_MAX) REQUIRE(t3_shmem_malloc(&p.gpu, &p.heap, 1, &again) == T3_OK);
    CHECK(t3_shmem_malloc(&p.gpu, &p.heap, 1, &again) == T3_TABLE_FULL);
  };
  require_ended(run(what));
  CHECK(closed[0] == T3_OK);
}

TEST_CASE("completions may be cached where the NIC's writes invalidate") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 64, other(told));
    t3_shmem_quiet(wave, shmem);
  }};
  what.cached = true;
  require_ended(run(what));
  for (std::uint64_t i = 0; i < 64; ++i) REQUIRE(targets[0][i] == pattern(1, i));
}

TEST_CASE("peers of the node are reached by stores and the others by the NIC") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    for (std::uint32_t gpu = 0; gpu < told.gpus; ++gpu) {
      const std::uint64_t value = 100 * told.gpu + 10, place = t3_shmem_ptr(shmem, told.flags + 64 * told.gpu, gpu);
      if (place != 0)
        t3_write(wave, place, &value, sizeof value);
      else
        t3_shmem_uint64_p(wave, shmem, told.flags + 64 * told.gpu, value + 1, gpu);
    }
    t3_fence(wave);
    for (std::uint64_t gpu = 0; gpu < told.gpus; ++gpu)
      (void)t3_wait_value(wave, {told.flags + 64 * gpu, 8, T3_NOT_EQUAL, ~std::uint64_t{0}, 0, false});
    t3_shmem_quiet(wave, shmem);
  }};
  require_ended(
      run(what,
          {"gpus=4", R"(system.links.topology={"kind": "nodes", "gpus_per_node": 2, "inside": {"topology": "ring"}})"}),
      4);
  for (std::uint32_t g = 0; g < 4; ++g)
    for (std::uint32_t from = 0; from < 4; ++from)
      CHECK(flag_of(g, 8 * from) == 100 * from + 10 + (from / 2 == g / 2 ? 0 : 1));
}

// How many messages a second contexts carry: build/release/test_driver_errors "[rate]", with CONTEXTS in the
// environment
TEST_CASE("the rate of puts with fence and flag grows with the contexts", "[.][rate]") {
  const std::uint32_t contexts =
      std::getenv("CONTEXTS") == nullptr ? 1u : static_cast<std::uint32_t>(std::atoi(std::getenv("CONTEXTS")));
  const RunResult result =
      run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
             for (std::uint64_t i = 0; i < 8; ++i) {
               t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 1024, other(told));
               t3_shmem_fence(wave, shmem);
               t3_shmem_uint64_p(wave, shmem, told.flags + 8 * wave->workgroup, i + 1, other(told));
             }
             t3_shmem_quiet(wave, shmem);
           },
           128, contexts, 256},
          {"data=timing-only"});
  CAPTURE(result.diagnosis);
  const double messages = 128 * 8 * 2;
  WARN(fmt::format("{} contexts: {:.2f} million data PUTs and flags a second on each GPU", contexts,
                   messages * 1e3 / static_cast<double>(kernel_ns[0])));
  CHECK(ended[0] == T3_OK);
}

}  // namespace t3vp::test::shmem_test
