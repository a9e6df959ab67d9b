// Errors when a GPU maps a chunk to another GPU's memory by its NIC, and their reports to the host.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/nic_systems.h"
#include "driver_errors/whole_runs.h"
#include "firmware/connected.h"
#include "t3/address.h"
#include "t3/nic_maps.h"
#include "t3/registers/near_memory.h"

namespace t3vp::test::nic_maps_test {

namespace {

constexpr const char* early =
    "dma: busy at 0xf00000a0114: dma.queue_entries[0]: 0x0, commands send by queue 0: none expected";

/// What a host's program has: a queue pair that is joined with the other's, and an output that the other may add to.
struct Host {
  const t3_hal* hal;
  t3_context gpu{};
  t3_nic_queue queue{};
  t3_output out{};
  t3_matrix a{}, b{};
  std::uint32_t keys[2] = {};

  explicit Host(const t3_hal* h) : hal(h) {
    REQUIRE(t3_init(&gpu, hal) == T3_OK);
    out.matrix.rows = out.matrix.columns = a.rows = b.columns = 64;
    a.columns = b.rows = 32;
    out.matrix.memory = T3_UNCACHED;
    out.tiling = {64, 64, 4};
    for (t3_matrix* matrix : {&out.matrix, &a, &b}) REQUIRE(t3_matrix_malloc(&gpu, matrix) == T3_OK);
    queue.entries = 16;
    REQUIRE(t3_malloc(&gpu, t3_nic_queue_bytes(queue.entries), &queue.memory) == T3_OK);
  }
  t3_chunk all() const { return {0, t3_workgroups(&out)}; }
  t3_nic_route way() const { return {0, keys[0], keys[1]}; }

  void write(t3_block block, std::uint64_t offset, std::uint32_t value) {
    REQUIRE(hal->write32(hal->platform, t3_block_base(hal->gpu, block) + offset, value) == T3_OK);
  }
  void share(std::uint32_t rights) {
    std::uint32_t key = 0;
    const std::uint64_t bytes = std::uint64_t{out.matrix.rows} * out.matrix.row_stride;
    REQUIRE(t3_nic_reg_mr(&gpu, out.matrix.address, bytes, rights, &key) == T3_OK);
    REQUIRE(t3_host_all_gather(&gpu, "keys", &key, sizeof key, keys) == T3_OK);
  }
  void connect() {
    REQUIRE(t3_fill_zero(&gpu, &out.matrix) == T3_OK);
    REQUIRE(t3_nic_create_qp(&gpu, &queue) == T3_OK);
    write(T3_BLOCK_NIC, T3_NIC_RETRY_OFFSET, 1 << T3_NIC_RETRY_TIMEOUT_SHIFT | 2 << T3_NIC_RETRY_RETRIES_SHIFT);
    REQUIRE(test::connect(&gpu, &queue, 1 - hal->gpu, 0) == T3_OK);
  }
  void meet() { REQUIRE(t3_host_barrier(&gpu) == T3_OK); }
  void reset_together() {
    meet();
    REQUIRE(t3_nic_destroy_qp(&gpu, &queue) == T3_OK);
    meet();
  }
  void lend_and_map(const t3_nic_route& by) {
    REQUIRE(t3_dma_lend(&gpu, 0, &queue) == T3_OK);
    REQUIRE(t3_dma_map_nic(&gpu, &out, all(), t3_peer_address(&out.matrix, 1), &by, {1, 1, T3_UPDATE}) == T3_OK);
  }
  t3_status multiply() {
    t3_gemm_options options{};
    options.update = true;
    REQUIRE(t3_gemm(&gpu, &out, &a, &b, options) == T3_OK);
    REQUIRE(t3_wait_kernels(&gpu) == T3_OK);
    return t3_wait_dma(&gpu);
  }
  std::vector<std::uint32_t> syndromes() {
    std::vector<std::uint32_t> found;
    for (std::uint32_t count = 0;;) {
      t3_nic_completion completion{};
      REQUIRE(t3_nic_poll_cq(&gpu, &queue, 1, &completion, &count) == T3_OK);
      if (count == 0) return found;
      found.push_back(completion.syndrome);
    }
  }
  void take_back() {
    REQUIRE(t3_force_unmap_all(&gpu) == T3_OK);
    REQUIRE(t3_dma_take_back(&gpu, 0, &queue) == T3_OK);
  }
  /// Its own Tracker counts what the other one's NIC has it add.
  void await_additions() {
    REQUIRE(t3_dma_map(&gpu, &out, all(), 0, T3_NOTIFY, {1, 1, T3_UPDATE}) == T3_OK);
    meet();
    REQUIRE(t3_wait_dma(&gpu) == T3_OK);
    REQUIRE(t3_remote_unmap_all(&gpu) == T3_OK);
  }
};

struct Case {
  std::uint32_t rights = T3_NIC_REMOTE_ACCUMULATE;
  void (*first)(Host&) = nullptr;                     ///< of GPU 0
  void (*second)(Host&) = [](Host& h) { h.meet(); };  ///< of GPU 1; both meet once
};
Case the;

t3_status program(const t3_hal* hal, const t3_run*) {
  Host host(hal);
  host.share(the.rights);
  host.connect();
  (hal->gpu == 0 ? the.first : the.second)(host);
  host.meet();
  if (host.queue.is_open) REQUIRE(t3_nic_destroy_qp(&host.gpu, &host.queue) == T3_OK);
  return t3_close(&host.gpu);
}

/// Both programs end well, and the logs' first lines have these texts.
std::vector<std::string> run(const Case& what, const std::vector<std::string>& texts) {
  the = what;
  RunOptions options;
  options.program = program;
  const RunResult result = simulate(two_with_nics({}), options);
  CAPTURE(result.diagnosis);
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                      [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  for (const std::string& line : result.diagnosis) CHECK(line.find("error log") != std::string::npos);
  return result.diagnosis;
}

/// One entry fails, the three behind it are flushed, and each tile's failure has the reason.
void require_failure(Host& host, const t3_nic_route& way, t3_status expected, t3_nic_syndrome syndrome) {
  host.meet();
  host.lend_and_map(way);
  CHECK(host.multiply() == expected);
  CHECK(host.syndromes() == std::vector<std::uint32_t>{syndrome, T3_NIC_FLUSHED, T3_NIC_FLUSHED, T3_NIC_FLUSHED});
  host.take_back();
}

}  // namespace

TEST_CASE("maps by the NIC: a queue pair that was reset is lent again, and all that is sent is counted") {
  const auto sends = [](Host& host) {
    for (int time = 0; time < 2; ++time) {
      host.meet();
      host.lend_and_map(host.way());
      REQUIRE(host.multiply() == T3_OK);
      CHECK(host.syndromes().empty());
      REQUIRE(t3_remote_unmap_all(&host.gpu) == T3_OK);
      REQUIRE(t3_dma_take_back(&host.gpu, 0, &host.queue) == T3_OK);
      CHECK(t3_dma_lend(&host.gpu, 0, &host.queue) == T3_BUSY);  // the engine's entries are in it
      host.reset_together();
      host.connect();
      host.meet();
    }
  };
  const auto counts = [](Host& host) {
    for (int time = 0; time < 2; ++time) {
      host.await_additions();
      host.reset_together();
      host.connect();
      host.meet();
    }
  };
  CHECK(run({T3_NIC_REMOTE_ACCUMULATE, sends, counts}, {}).empty());
}

TEST_CASE("maps by the NIC: a queue pair that is lent is not the host's, and not taken back early") {
  const auto uses = [](Host& host) {
    host.meet();
    host.lend_and_map(host.way());
    t3_nic_message message{};
    message.opcode = T3_NIC_WRITE;
    CHECK(t3_nic_post_send(&host.gpu, &host.queue, &message) == T3_BUSY);
    CHECK(t3_nic_destroy_qp(&host.gpu, &host.queue) == T3_BUSY);
    CHECK(host.syndromes().empty());
    CHECK(t3_dma_take_back(&host.gpu, 0, &host.queue) == T3_BUSY);
    CHECK(t3_close(&host.gpu) == T3_BUSY);
    CHECK(host.multiply() == T3_OK);
    host.take_back();
  };
  CHECK(run({T3_NIC_REMOTE_ACCUMULATE, uses, [](Host& host) { host.await_additions(); }}, {early}).size() == 1);
}

TEST_CASE("maps by the NIC: a wrong key") {
  const auto sends = [](Host& host) {
    t3_nic_route wrong = host.way();
    wrong.rkey += 1;
    require_failure(host, wrong, T3_ACCESS_DENIED, T3_NIC_REMOTE_ACCESS);
  };
  run({T3_NIC_REMOTE_ACCUMULATE, sends},
      {"queue pair 0, entry 0: remote_access: NIC 1 has refused 0x100000001000: the remote key is not valid",
       "NIC 1: accumulate packet 0 of queue pair 0 of NIC 0 for queue pair 0: remote_access: key 0x2 is not valid: one "
       "of a registered region expected",
       "dma: access_denied at 0x100000001000: wavefront 0 of workgroup 0 by queue pair 0 of the NIC: "});
}

TEST_CASE("maps by the NIC: a key without the right to accumulate") {
  const auto sends = [](Host& host) { require_failure(host, host.way(), T3_ACCESS_DENIED, T3_NIC_REMOTE_ACCESS); };
  run({T3_NIC_ALL_ACCESS & ~T3_NIC_REMOTE_ACCUMULATE, sends},
      {"queue pair 0, entry 0: remote_access: NIC 1 has refused 0x100000001000",
       "remote_access: 0x800 bytes at 0x100000001000 with key 0x1: a region with the right remote_accumulate expected",
       "dma: access_denied at 0x100000001000: wavefront 0 of workgroup 0 by queue pair 0 of the NIC: "});
}

TEST_CASE("maps by the NIC: near-memory compute is off at the peer") {
  const auto sends = [](Host& host) { require_failure(host, host.way(), T3_DISABLED, T3_NIC_REMOTE_OPERATION); };
  const auto adds_not = [](Host& host) {
    host.write(T3_BLOCK_NEAR_MEMORY, T3_NEAR_MEMORY_CONTROL_OFFSET, 0);
    host.meet();
  };
  run({T3_NIC_REMOTE_ACCUMULATE, sends, adds_not},
      {"queue pair 0, entry 0: remote_operation: NIC 1 has refused 0x100000001000",
       "memory_controller: disabled at 0x100000001000: update while near_memory.control.enable is 0",
       "dma: disabled at 0x100000001000: wavefront 0 of workgroup 0 by queue pair 0 of the NIC: the unit that should "
       "do this is switched off"});
}

TEST_CASE("maps by the NIC: the peer is gone") {
  const auto sends = [](Host& host) { require_failure(host, host.way(), T3_NO_PEER, T3_NIC_RETRY_EXCEEDED); };
  const auto leaves = [](Host& host) {
    REQUIRE(t3_nic_destroy_qp(&host.gpu, &host.queue) == T3_OK);
    host.meet();
  };
  run({T3_NIC_REMOTE_ACCUMULATE, sends, leaves},
      {"NIC 0: queue pair 0, entry 0: retry_exceeded: no acknowledgement has come, and sent 2 times again",
       "NIC 1: accumulate packet 0 of queue pair 0 of NIC 0 for queue pair 0 in reset with peer 0 of NIC 0 is dropped",
       "dma: no_peer at 0x100000001000: wavefront 0 of workgroup 0 by queue pair 0 of the NIC: the address names a GPU "
       "that is not there or cannot be reached"});
}

}  // namespace t3vp::test::nic_maps_test
