// Mistakes of kernels and hosts with a symmetric heap, and their reports.
#include <catch2/catch.hpp>
#include <cstring>

#include "driver/context_state.h"
#include "driver_errors/shmem_runs.h"
#include "report/report.h"

namespace t3vp::test::shmem_errors_test {

using namespace shmem_runs;

namespace {

/// In GPU 0's table.
void spoil_keys(Program& p) {
  unsigned char bytes[64];
  for (std::uint64_t at = p.heap.table + 64; p.hal->gpu == 0 && at < p.heap.table + 64 + 64 * 4; at += 64) {
    p.hal->read_memory(p.hal->platform, at, bytes, sizeof bytes);
    t3_shmem_queue queue = t3_shmem_queue_from(bytes);
    queue.key += 1;
    t3_shmem_queue_to(&queue, bytes);
    p.hal->write_memory(p.hal->platform, at, bytes, sizeof bytes);
  }
}

}  // namespace

TEST_CASE("a wrong key ends the kernel with its syndrome and the others of the ring are flushed") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
              if (told.gpu != 0) return;
              for (int i = 0; i < 3; ++i) t3_shmem_putmem_nbi(wave, shmem, told.target + 64, told.source, 32, 1);
              t3_shmem_quiet(wave, shmem);
            },
            4};
  what.before = spoil_keys;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(ended[1] == T3_OK);
  CHECK(tells(result, "t3_shmem_quiet: entry 0 of queue pair 0 to GPU 1 has ended with syndrome 19 at 0x1000"));
  CHECK(tells(result, "the remote key is not valid, does not cover the bytes or does not permit the access"));
}

TEST_CASE("what has failed behind a kernel that did not wait is told when the heap is closed") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
              if (told.gpu != 0) return;
              for (int i = 0; i < 3; ++i) t3_shmem_putmem_nbi(wave, shmem, told.target + 64, told.source, 32, 1);
            },
            4};
  what.before = spoil_keys;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_OK);
  CHECK(closed[0] == T3_ACCESS_DENIED);
  CHECK(closed[1] == T3_OK);
}

// As a wave leaves it that is aborted between the record and the doorbell.
TEST_CASE("a heap is closed when kernels have written a doorbell record and have not rung") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    const std::uint32_t posted = 3;
    t3_write(wave, shmem->queues[other(told)].record, &posted, sizeof posted);
    t3_fence(wave);
  }});
  require_ended(result);
  CHECK(closed[0] == T3_OK);
  CHECK(closed[1] == T3_OK);
}

TEST_CASE("a key that is withdrawn while kernels use it ends them with its syndrome") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    if (told.gpu != 0) return;
    for (int i = 0; i < 1000; ++i) t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 64, 1);
    t3_shmem_quiet(wave, shmem);
  }};
  what.beside = [](Program& p) {
    if (p.hal->gpu != 1) return;
    p.hal->wait_ns(p.hal->platform, 50'000);
    t3_nic_dereg_mr(&p.gpu, p.heap.key);
  };
  what.leaves_heap = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(tells(result, "t3_shmem_putmem_nbi: entry "));
  CHECK(tells(result, " of queue pair 0 to GPU 1 has ended with syndrome 19 at 0x1000"));
}

TEST_CASE("a put to the own GPU ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_putmem_nbi(w, s, t.target, t.source, 8, 0); },
      "kernel shmem: workgroup 0, wave 0: t3_shmem_putmem_nbi with GPU 0: another one of 2 expected");
}

TEST_CASE("a put to no GPU ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_uint64_p(w, s, t.target, 8, 7); },
                  "t3_shmem_uint64_p with GPU 7: another one of 2 expected");
}

TEST_CASE("a get from outside of the heap ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t,
                     t3_shmem_ctx* s) { t3_shmem_getmem(w, s, t.target, t.target + 8 * piece, 8, 1); },
                  "t3_shmem_getmem of 8 bytes at 0x");
}

TEST_CASE("a put of nothing ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_putmem_nbi(w, s, t.target, t.source, 0, 1); },
      "t3_shmem_putmem_nbi of 0 bytes at 0x");
}

TEST_CASE("a context that there is not ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { (void)t3_shmem_ctx_open(w, t.table, 3, s); },
                  "t3_shmem_ctx_open of context 3: the table at 0x");
}

TEST_CASE("a flag off its alignment ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) { t3_shmem_uint64_p(w, s, t.flags + 4, 8, 1); },
                  "t3_shmem_uint64_p of an integer of 8 bytes at 0x21804: a multiple of 8 expected");
}

TEST_CASE("a signal off its alignment ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) {
        t3_shmem_putmem_signal_nbi(w, s, t.target, t.source, 64, t.flags + 12, 1, T3_SHMEM_SIGNAL_SET, 1);
      },
      "t3_shmem_putmem_signal_nbi of an integer of 8 bytes at 0x");
}

TEST_CASE("a signal inside the data of its own put ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) {
        t3_shmem_putmem_signal_nbi(w, s, t.target, t.source, 57, t.target + 56, 1, T3_SHMEM_SIGNAL_SET, 1);
      },
      ": outside of its data, 0x39 bytes at 0x");
}

TEST_CASE("a signal that is neither set nor added ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) {
        t3_shmem_putmem_signal_nbi(w, s, t.target, t.source, 56, t.target + 56, 1, static_cast<t3_shmem_signal_op>(9),
                                   1);
      },
      "t3_shmem_putmem_signal_nbi with sig_op 9: T3_SHMEM_SIGNAL_SET or T3_SHMEM_SIGNAL_ADD expected");
}

TEST_CASE("a barrier of a heap without collectives ends the kernel") {
  require_mistake([](t3_wave* w, const Arguments&, t3_shmem_ctx* s) { t3_shmem_barrier_all(w, s); },
                  "t3_shmem_barrier_all: a heap that t3_shmem_init has opened with `collectives` expected");
}

void require_unopened(void (*wave)(t3_wave*, const Arguments&, t3_shmem_ctx*), const std::string& name) {
  Case what{wave};
  what.opens_itself = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  for (std::uint32_t g = 0; g < 2; ++g) CHECK(ended[g] == T3_ABORTED);
  CHECK(tells(result, name + ": a context that t3_shmem_ctx_open has opened expected"));
}

TEST_CASE("a quiet with a context that was never opened ends the kernel") {
  require_unopened(
      [](t3_wave* w, const Arguments& t, t3_shmem_ctx* s) {
        CHECK(t3_shmem_n_pes(s) == 0);
        CHECK(t3_shmem_ptr(s, t.target, t.gpu) == 0);
        t3_shmem_quiet(w, s);
      },
      "t3_shmem_quiet");
}

TEST_CASE("a fence with a context that was never opened ends the kernel") {
  require_unopened([](t3_wave* w, const Arguments&, t3_shmem_ctx* s) { t3_shmem_fence(w, s); }, "t3_shmem_fence");
}

TEST_CASE("a put with a context that was never opened ends the kernel") {
  require_unopened([](t3_wave* w, const Arguments& t,
                      t3_shmem_ctx* s) { t3_shmem_putmem_nbi(w, s, t.target, t.source, 8, other(t)); },
                   "t3_shmem_putmem_nbi");
}

TEST_CASE("a barrier with a context that was never opened ends the kernel") {
  require_unopened([](t3_wave* w, const Arguments&, t3_shmem_ctx* s) { t3_shmem_barrier_all(w, s); },
                   "t3_shmem_barrier_all");
}

TEST_CASE("two waves of a workgroup that open different contexts by one handle end the kernel") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    (void)t3_shmem_ctx_open(wave, told.table, wave->wave, shmem);
  }};
  what.contexts = what.waves = 2;
  what.opens_itself = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  for (std::uint32_t g = 0; g < 2; ++g) CHECK(ended[g] == T3_ABORTED);
  CHECK(tells(result,
              "workgroup 0, wave 1: t3_shmem_ctx_open of context 1 of the table at 0x1000: the workgroup has "
              "opened context 0 of the table at 0x1000 by the same handle, one handle for each expected"));
}

TEST_CASE("two waves of a workgroup open different contexts by handles of their own") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx*) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      t3_shmem_ctx own;
      if (t3_shmem_ctx_open(wave, told.table, (wave->wave + i) % 2, &own) != T3_OK) return;
      t3_shmem_uint64_p(wave, &own, told.flags + 8 * (2 * wave->wave + i), 7, other(told));
      t3_shmem_quiet(wave, &own);
    }
  }};
  what.contexts = what.waves = 2;
  what.opens_itself = true;
  require_ended(run(what));
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(flag_of(0, i) == 7);
}

TEST_CASE("a program that frees memory of a heap is refused and the heap is whole") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 4096, other(told));
    t3_shmem_quiet(wave, shmem);
  }};
  what.before = [](Program& p) {
    CHECK(t3_free(&p.gpu, p.heap.table) == T3_BUSY);
    CHECK(t3_free(&p.gpu, p.heap.heap) == T3_BUSY);
    CHECK(t3_free(&p.gpu, p.heap.pieces[1].address) == T3_BUSY);
    std::uint64_t next = 0;
    CHECK(t3_malloc(&p.gpu, 4096, &next) == T3_OK);
    CHECK(next >= p.heap.heap + p.heap.heap_bytes);
    CHECK(t3_free(&p.gpu, next) == T3_OK);
  };
  require_ended(run(what));
  for (std::uint32_t g = 0; g < 2; ++g) {
    CHECK(closed[g] == T3_OK);
    for (std::uint64_t i = 0; i < 4096; ++i) REQUIRE(targets[g][i] == pattern(1 - g, i));
  }
}

TEST_CASE("a completion that goes stale in the cache is told and is no hang") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    if (told.gpu != 0) return;
    t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 64, 1);
    t3_shmem_quiet(wave, shmem);
  }};
  what.cached = true;
  const RunResult result = run(what, {"system.nic.writes_invalidate=false"});
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_STUCK);
  CHECK(tells(result, "shmem: workgroup 0, wave 0 polls 2 bytes at 0x"));
  CHECK(tells(result, "something else than 0xfff1 expected"));
}

TEST_CASE("a peer that is gone ends the kernel when the NIC has tried long enough") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    if (told.gpu != 0) return;
    t3_shmem_putmem_nbi(wave, shmem, told.target, told.source, 64, 1);
    t3_shmem_quiet(wave, shmem);
  }};
  what.before = [](Program& p) {
    if (p.hal->gpu == 1) t3_nic_destroy_qp(&p.gpu, &p.heap.queues[0]);
  };
  what.leaves_heap = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(tells(result,
              "t3_shmem_quiet: entry 0 of queue pair 0 to GPU 1 has ended with syndrome 21 at 0x0: the peer has "
              "not acknowledged it"));
  CHECK(kernel_ns[0] > 500'000'000);  // eight times 67 ms, in which nothing but polls goes on
}

TEST_CASE("kernels of both sides with wrong keys are told what the other was refused") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    t3_shmem_uint64_p(wave, shmem, told.target, 1, other(told));
    t3_shmem_quiet(wave, shmem);
  }};
  what.before = [](Program& p) { t3_nic_dereg_mr(&p.gpu, p.heap.key); };
  what.leaves_heap = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  for (const std::string gpu : {"0", "1"}) CHECK(tells(result, "to GPU " + gpu + " has ended with syndrome 5 at 0x1"));
  CHECK(tells(result,
              "the queue pair was in error, for the cause that the completion says: a request of the peer was refused: "
              "the remote key is not valid, does not cover the bytes or does not permit the access"));
  for (std::uint32_t g = 0; g < 2; ++g) CHECK(ended[g] == T3_ABORTED);
}

TEST_CASE("a flag that is put beside a tensor in a run without data is refused and told") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
                                 if (told.gpu != 0) return;
                                 t3_shmem_putmem_nbi(wave, shmem, told.flags, told.source, 40, 1);
                                 t3_shmem_uint64_p(wave, shmem, told.flags + 48, 9, 1);
                                 t3_shmem_quiet(wave, shmem);
                               }},
                               {"data=timing-only"});
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(tells(result, "integers and flags apart from tensors expected"));
  CHECK(tells(result, "t3_shmem_quiet: entry 1 of queue pair 0 to GPU 1 has ended with syndrome 20 at 0x1000"));
  CHECK(tells(result,
              "the peer's memory has refused the access, for the reason in the completion: the register or memory "
              "cannot be read or written so"));
}

TEST_CASE("a flag beside a tensor is right in a run with data") {
  const RunResult result = run({[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    t3_shmem_putmem_nbi(wave, shmem, told.flags, told.source, 40, other(told));
    t3_shmem_uint64_p(wave, shmem, told.flags + 48, 9, other(told));
    t3_shmem_quiet(wave, shmem);
  }});
  require_ended(result);
  CHECK(flag_of(0, 6) == 9);
  CHECK(flags[0][39] == pattern(1, 39));
  CHECK(flags[0][40] == 0);
}

TEST_CASE("a host that posts to or polls a queue pair of kernels is refused") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    t3_shmem_uint64_p(wave, shmem, told.flags, 9, other(told));
    t3_shmem_quiet(wave, shmem);
  }};
  what.before = [](Program& p) {
    std::uint32_t count = 0;
    t3_nic_completion completion{};
    t3_nic_message message{};
    message.opcode = T3_NIC_READ;
    CHECK(t3_nic_post_send(&p.gpu, &p.heap.queues[0], &message) == T3_ACCESS_DENIED);
    CHECK(t3_nic_poll_cq(&p.gpu, &p.heap.queues[0], 1, &completion, &count) == T3_ACCESS_DENIED);
  };
  require_ended(run(what));
  CHECK(flag_of(0, 0) == 9);
}

TEST_CASE("a host with a copy of a kernels' queue overwrites nothing that is not told") {
  Case what{[](t3_wave* wave, const Arguments& told, t3_shmem_ctx* shmem) {
    for (int i = 0; i < 40; ++i) t3_shmem_uint64_p(wave, shmem, told.flags, 9, other(told));
    t3_shmem_quiet(wave, shmem);
  }};
  what.beside = [](Program& p) {
    if (p.hal->gpu != 0) return;
    p.hal->wait_ns(p.hal->platform, 60'000);
    t3_nic_queue copy = p.heap.queues[0];
    copy.is_kernels = false;
    t3_nic_message message{};
    message.opcode = T3_NIC_READ;
    CHECK(t3_nic_post_send(&p.gpu, &copy, &message) == T3_BAD_VALUE);
  };
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(tells(result, "nic.doorbell[0]: 0x1, more than 0x"));
}

TEST_CASE("a kernel finds no context in a heap whose queue pairs are the host's") {
  Case what{[](t3_wave*, const Arguments&, t3_shmem_ctx*) {}};
  what.change = [](std::uint32_t, t3_shmem_options& options) { options.for_host = true; };
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(tells(result, "t3_shmem_ctx_open of context 0: the table at 0x"));
  CHECK(tells(result, "has 0, and 2 GPUs"));
}

TEST_CASE("hosts that open a heap with other options are told which") {
  Case what{[](t3_wave*, const Arguments&, t3_shmem_ctx*) {}};
  what.change = [](std::uint32_t gpu, t3_shmem_options& options) {
    if (gpu == 0) return;
    options.contexts = 2, options.for_host = true, options.heap_bytes -= 256;
  };
  const RunResult result = run(what);
  for (std::uint32_t g = 0; g < 2; ++g) CHECK(opened[g] == T3_MISMATCH);
  const std::string call = "t3_shmem_init: GPU 1 has ", same = ": the same expected";
  CHECK(logged_lines[0] == std::vector<std::string>{call + "its heap at local address 0x2000, this GPU 0x1800" + same,
                                                    call + "heap_bytes 0x7ff00, this GPU 0x80000" + same,
                                                    call + "contexts 0x2, this GPU 0x1" + same,
                                                    call + "for_host 0x1, this GPU 0x0" + same});
  CHECK(logged_lines[1].size() == 4);
}

TEST_CASE("hosts that open a heap that cannot be") {
  Case what{[](t3_wave*, const Arguments&, t3_shmem_ctx*) {}};
  what.before = [](Program& p) {
    t3_shmem_heap heap{};
    t3_shmem_options options{4096, 33, 16, false, false, false};
    CHECK(t3_shmem_init(&p.gpu, options, &heap) == T3_CAPACITY);
    options.contexts = 1, options.entries = 12;
    CHECK(t3_shmem_init(&p.gpu, options, &heap) == T3_INVALID_ARGUMENT);
    options.entries = 16;
    std::memset(&options.for_host, 2, 1);
    CHECK(t3_shmem_init(&p.gpu, options, &heap) == T3_INVALID_ARGUMENT);
    options.for_host = false;
    state_of(&p.gpu)->gpus = 17;
    CHECK(t3_shmem_init(&p.gpu, options, &heap) == T3_CAPACITY);
    state_of(&p.gpu)->gpus = 2;
  };
  require_ended(run(what));
}

TEST_CASE("hosts that take pieces of other sizes from a heap are told which") {
  Case what{[](t3_wave*, const Arguments&, t3_shmem_ctx*) {}};
  what.before = [](Program& p) {
    std::uint64_t place = 0;
    CHECK(t3_shmem_malloc(&p.gpu, &p.heap, 100 + p.hal->gpu, &place) == T3_MISMATCH);
  };
  require_ended(run(what));
  CHECK(logged_lines[0] ==
        std::vector<std::string>{"t3_shmem_malloc: GPU 1 has bytes 0x65, this GPU 0x64: the same expected"});
}

TEST_CASE("hosts that free other pieces of a heap are told which") {
  Case what{[](t3_wave*, const Arguments&, t3_shmem_ctx*) {}};
  what.before = [](Program& p) {
    CHECK(t3_shmem_free(&p.gpu, &p.heap, p.heap.pieces[p.hal->gpu].address) == T3_MISMATCH);
    CHECK(t3_shmem_free(&p.gpu, &p.heap, p.heap.heap + 256) == T3_INVALID_ARGUMENT);
  };
  require_ended(run(what));
  REQUIRE(logged_lines[0].size() == 1);
  CHECK(logged_lines[0][0].find("t3_shmem_free: GPU 1 has a piece at local address 0x1") == 0);
}

}  // namespace t3vp::test::shmem_errors_test
