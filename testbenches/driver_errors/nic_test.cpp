// Mistakes of hosts with their NICs, the reports, and the recovery. The how-to for drivers has the table.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "driver/context_state.h"
#include "driver_errors/nic_systems.h"
#include "driver_errors/whole_runs.h"
#include "firmware/connected.h"
#include "nic/syndrome_status.h"
#include "t3/address.h"
#include "t3/nic_work_entry.h"
#include "t3/shmem.h"

namespace t3vp::test::nic_test {

namespace {

constexpr std::uint64_t piece = 1 << 16;
constexpr std::uint32_t entries = 8;

/// What a host's program has: a queue pair that is joined with the other's, and memory that the other one may use.
struct Host {
  const t3_hal* hal;
  t3_context gpu{};
  t3_nic_queue queue{};
  std::uint64_t data = 0, others_data = 0;
  std::uint32_t key = 0, others_key = 0;

  t3_nic_message message(t3_nic_opcode opcode, std::uint32_t bytes) const {
    t3_nic_message made{};
    made.opcode = opcode;
    made.remote_address = others_data, made.rkey = others_key;
    made.local_address = data, made.lkey = key, made.bytes = bytes;
    return made;
  }
  t3_status post(const t3_nic_message& what) { return t3_nic_post_send(&gpu, &queue, &what); }
  t3_nic_completion end() {
    t3_nic_completion completion{};
    REQUIRE(t3_nic_wait(&gpu, &queue, &completion) == T3_OK);
    return completion;
  }
  /// Posts it and waits for its end.
  t3_nic_completion send(const t3_nic_message& what) {
    REQUIRE(post(what) == T3_OK);
    return end();
  }
  void require_error_state() {
    std::uint32_t state = 0;
    REQUIRE(t3_nic_query_qp(&gpu, &queue, &state) == T3_OK);
    REQUIRE(state == T3_NIC_STATE_NOW_ERROR);
  }
  void connect() {
    REQUIRE(t3_nic_create_qp(&gpu, &queue) == T3_OK);
    REQUIRE(test::connect(&gpu, &queue, 1 - hal->gpu, 0) == T3_OK);
    REQUIRE(t3_host_barrier(&gpu) == T3_OK);
  }
  /// What both do behind an error; then messages arrive again.
  void go_on() {
    REQUIRE(t3_host_barrier(&gpu) == T3_OK);
    REQUIRE(t3_nic_destroy_qp(&gpu, &queue) == T3_OK);
    connect();
    REQUIRE(send(message(T3_NIC_WRITE, 100)).syndrome == T3_NIC_OK);
  }
  std::uint64_t reg(std::uint32_t offset) const { return t3_block_base(hal->gpu, T3_BLOCK_NIC) + offset; }
};

struct Case {
  void (*first)(Host&) = nullptr;   ///< of GPU 0
  void (*second)(Host&) = nullptr;  ///< of GPU 1
};
Case the;

t3_status program(const t3_hal* hal, const t3_run*) {
  Host host{hal};
  T3_TRY(t3_init(&host.gpu, hal));
  T3_TRY(t3_malloc(&host.gpu, piece, &host.data));
  host.queue.entries = entries;
  T3_TRY(t3_malloc(&host.gpu, t3_nic_queue_bytes(entries), &host.queue.memory));
  T3_TRY(t3_nic_reg_mr(&host.gpu, host.data, piece, T3_NIC_ALL_ACCESS, &host.key));
  const std::uint64_t mine[2] = {host.data, host.key};
  std::uint64_t all[2][2];
  T3_TRY(t3_host_all_gather(&host.gpu, "keys", mine, sizeof mine, all));
  host.others_data = all[1 - hal->gpu][0];
  host.others_key = static_cast<std::uint32_t>(all[1 - hal->gpu][1]);
  host.connect();
  const auto part = hal->gpu == 0 ? the.first : the.second;
  if (part != nullptr) part(host);
  T3_TRY(t3_host_barrier(&host.gpu));
  if (host.queue.is_open) T3_TRY(t3_nic_destroy_qp(&host.gpu, &host.queue));
  return t3_close(&host.gpu);
}

RunResult run(const Case& what, const std::vector<std::string>& settings = {}) {
  the = what;
  RunOptions options;
  options.program = program;
  return simulate(two_with_nics(settings), options);
}

/// Both programs end well, and logs have all these texts and no others.
void require_logged(const RunResult& result, const std::vector<std::string>& texts) {
  CAPTURE(result.diagnosis);
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                      [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  CHECK(result.diagnosis.size() == texts.size());
}

void require_end(const t3_nic_completion& end, t3_nic_syndrome syndrome, t3_status status, std::uint64_t address) {
  CHECK(end.syndrome == syndrome);
  CHECK(t3_nic_status(&end) == status);
  CHECK(end.address == address);
}

void require_flushed(const t3_nic_completion& end, t3_nic_cause cause, t3_nic_syndrome syndrome,
                     std::uint64_t address) {
  require_end(end, T3_NIC_FLUSHED, T3_ABORTED, address);
  CHECK(end.cause == cause);
  CHECK(end.cause_syndrome == syndrome);
}

void goes_on(Host& host) { host.go_on(); }

}  // namespace

TEST_CASE("nic: a wrong key") {
  require_logged(run({[](Host& host) {
                        t3_nic_message wrong = host.message(T3_NIC_WRITE, 64);
                        wrong.rkey += 1;
                        REQUIRE(host.post(wrong) == T3_OK);
                        REQUIRE(host.post(host.message(T3_NIC_WRITE, 64)) == T3_OK);
                        require_end(host.end(), T3_NIC_REMOTE_ACCESS, T3_ACCESS_DENIED, host.others_data);
                        require_flushed(host.end(), T3_NIC_CAUSE_OWN_ENTRY, T3_NIC_REMOTE_ACCESS, host.others_data);
                        host.require_error_state();
                        host.go_on();
                      },
                      goes_on}),
                 {"queue pair 0, entry 0: remote_access: NIC 1 has refused 0x100000001000: the remote key is not valid",
                  "NIC 1: write packet 0 of queue pair 0 of NIC 0 for queue pair 0: remote_access: key 0x2 is not "
                  "valid: one of a registered region expected"});
}

TEST_CASE("nic: a region that is too small") {
  require_logged(run({[](Host& host) {
                        t3_nic_message wrong = host.message(T3_NIC_READ, 64);
                        wrong.remote_address += piece - 63;
                        require_end(host.send(wrong), T3_NIC_REMOTE_ACCESS, T3_ACCESS_DENIED, wrong.remote_address);
                        host.go_on();
                      },
                      goes_on}),
                 {"queue pair 0, entry 0: remote_access: NIC 1 has refused",
                  "0x40 bytes at 0x100000010fc1 with key 0x1: within its 0x10000 bytes at 0x100000001000 expected"});
}

TEST_CASE("nic: a key that is withdrawn while its message is on the way") {
  require_logged(run({[](Host& host) {
                        const t3_nic_completion end = host.send(host.message(T3_NIC_WRITE, piece));
                        CHECK(end.syndrome == T3_NIC_REMOTE_ACCESS);
                        CHECK(end.address > host.others_data);  // what came before is in place
                        CHECK(end.address < host.others_data + piece);
                      },
                      [](Host& host) {
                        host.hal->wait_ns(host.hal->platform, 3'500);
                        REQUIRE(t3_nic_dereg_mr(&host.gpu, host.key) == T3_OK);
                        CHECK(t3_nic_dereg_mr(&host.gpu, host.key) == T3_INVALID_ARGUMENT);
                      }}),
                 {"queue pair 0, entry 0: remote_access: NIC 1 has refused", "key 0x1 is not valid",
                  "key 0x1 is withdrawn: one of a registered region expected"});
}

TEST_CASE("nic: a local key that is withdrawn while its message is on the way") {
  require_logged(run({[](Host& host) {
                        REQUIRE(host.post(host.message(T3_NIC_WRITE, piece)) == T3_OK);
                        host.hal->wait_ns(host.hal->platform, 2'000);
                        std::uint32_t count = 1;
                        t3_nic_completion end{};
                        REQUIRE(t3_nic_poll_cq(&host.gpu, &host.queue, 1, &end, &count) == T3_OK);
                        REQUIRE(count == 0);
                        REQUIRE(t3_nic_dereg_mr(&host.gpu, host.key) == T3_OK);
                        CHECK(host.end().syndrome == T3_NIC_OK);
                        require_end(host.send(host.message(T3_NIC_WRITE, 8)), T3_NIC_LOCAL_PROTECTION, T3_ACCESS_DENIED,
                                    host.data);
                      },
                      nullptr}),
                 {"queue pair 0, entry 1: local_protection: key 0x1 is not valid"});
}

TEST_CASE("nic: a local key that does not cover the bytes") {
  require_logged(run({[](Host& host) {
                        t3_nic_message wrong = host.message(T3_NIC_WRITE, 64);
                        wrong.local_address += piece;
                        require_end(host.send(wrong), T3_NIC_LOCAL_PROTECTION, T3_ACCESS_DENIED, wrong.local_address);
                        host.go_on();
                      },
                      goes_on}),
                 {"queue pair 0, entry 0: local_protection: 0x40 bytes at 0x11000 with key 0x1: within its 0x10000 "
                  "bytes at 0x1000 expected"});
}

TEST_CASE("nic: an opcode and a length that there are not") {
  require_logged(
      run({[](Host& host) {
             CHECK(host.post(host.message(static_cast<t3_nic_opcode>(77), 64)) == T3_INVALID_ARGUMENT);
             t3_nic_message inside = host.message(T3_NIC_WRITE, T3_NIC_INLINE_BYTES + 1);
             inside.inline_data = &host;
             CHECK(host.post(inside) == T3_CAPACITY);
             require_end(host.send(host.message(T3_NIC_FETCH_ADD, 4)), T3_NIC_LOCAL_LENGTH, T3_INVALID_ARGUMENT, 0);
             host.go_on();
             unsigned char entry[64] = {0}, count[4] = {2};  // written explicitly
             t3_nic_work_entry head{};
             head.opcode = 77, head.index = 1;
             t3_nic_work_entry_to(&head, entry);
             host.hal->write_memory(host.hal->platform, t3_nic_send_of(&host.queue) + 64, entry, sizeof entry);
             host.hal->write_memory(host.hal->platform, t3_nic_record_of(&host.queue), count, sizeof count);
             host.hal->order_writes(host.hal->platform);
             REQUIRE(host.hal->write32(host.hal->platform, host.reg(T3_NIC_DOORBELL_OFFSET), 2) == T3_OK);
             require_end(host.end(), T3_NIC_LOCAL_OPERATION, T3_INVALID_ARGUMENT, 0);
           },
           goes_on}),
      {"queue pair 0, entry 0: local_length: fetch_add with a result of 4 bytes: 8 expected",
       "queue pair 0, entry 1: local_operation: opcode 77: write, write_immediate, read, fetch_add or accumulate "
       "expected"});
}

TEST_CASE("nic: a queue pair that is not connected") {
  require_logged(
      run({[](Host& host) {
             t3_nic_queue second = host.queue;
             second.number = second.completion_queue = 1;
             REQUIRE(t3_malloc(&host.gpu, t3_nic_queue_bytes(entries), &second.memory) == T3_OK);
             CHECK(host.hal->write32(host.hal->platform, host.reg(T3_NIC_DOORBELL_OFFSET + T3_NIC_DOORBELL_STRIDE),
                                     1) == T3_BAD_VALUE);
             REQUIRE(t3_nic_create_qp(&host.gpu, &second) == T3_OK);
             const t3_nic_message message = host.message(T3_NIC_WRITE, 64);
             CHECK(t3_nic_post_send(&host.gpu, &second, &message) == T3_ACCESS_DENIED);
             CHECK(t3_nic_create_qp(&host.gpu, &second) == T3_BUSY);
             CHECK(connect(&host.gpu, &host.queue, 1, 0) == T3_BUSY);
             REQUIRE(t3_nic_destroy_qp(&host.gpu, &second) == T3_OK);
           },
           nullptr}),
      {"nic.doorbell[1]: 0x1, queue pair in ready_to_send expected, it is in reset",
       "nic.doorbell[1]: 0x1, queue pair in ready_to_send expected, it is in init",
       "nic.peer[0]: 0x10000, queue pair in reset or init expected, it is in ready_to_send"});
}

TEST_CASE("nic: two copies of one queue") {
  require_logged(run({[](Host& host) {
                        t3_nic_queue copy = host.queue;
                        REQUIRE(host.send(host.message(T3_NIC_WRITE, 64)).syndrome == T3_NIC_OK);
                        const t3_nic_message message = host.message(T3_NIC_READ, 64);
                        CHECK(t3_nic_post_send(&host.gpu, &copy, &message) == T3_BAD_VALUE);
                      },
                      nullptr}),
                 {"nic.doorbell[0]: 0x1, more than 0x1, which the last one has announced, expected"});
}

TEST_CASE("nic: a ring that is full") {
  require_logged(
      run({[](Host& host) {
             const t3_nic_message message = host.message(T3_NIC_WRITE, 64);
             for (std::uint32_t i = 0; i < entries; ++i) REQUIRE(host.post(message) == T3_OK);
             CHECK(host.post(message) == T3_BUSY);
             host.end();
             CHECK(host.post(message) == T3_OK);
             for (std::uint32_t i = 0; i < entries; ++i) host.end();
             const unsigned char count[4] = {40};  // written explicitly, more than there is room for
             host.hal->write_memory(host.hal->platform, t3_nic_record_of(&host.queue), count, sizeof count);
             host.hal->order_writes(host.hal->platform);
             REQUIRE(host.hal->write32(host.hal->platform, host.reg(T3_NIC_DOORBELL_OFFSET), 40) == T3_OK);
             require_flushed(host.end(), T3_NIC_CAUSE_SEND_QUEUE, T3_NIC_OK, 0);
           },
           nullptr}),
      {"queue pair 0: 40 entries are posted and 9 have ended: at most the 8 of its send queue expected in between"});
}

TEST_CASE("nic: a completion queue that overruns") {
  require_logged(
      run({[](Host& host) {
             t3_nic_completion end{};
             for (std::uint32_t i = 0; i < entries + 2 && end.syndrome == T3_NIC_OK; ++i)
               end = host.send(host.message(T3_NIC_WRITE_IMMEDIATE, 8));
             host.require_error_state();
             require_end(end, T3_NIC_RETRY_EXCEEDED, T3_NO_PEER, 0);
             host.go_on();
           },
           [](Host& host) {
             REQUIRE(t3_nic_post_recv(&host.gpu, &host.queue, 2 * entries) == T3_OK);
             host.hal->wait_ns(host.hal->platform, 100'000);  // and takes none of its completions
             std::uint32_t overrun = 0;
             REQUIRE(host.hal->read32(host.hal->platform, host.reg(T3_NIC_OVERRUN_OFFSET), &overrun) == T3_OK);
             CHECK(overrun == 1);
             host.require_error_state();
             host.go_on();
           }}),
      {"completion queue 0 overruns: 8 of its 8 entries are not consumed; the entry of queue pair 0 is lost, as are "
       "all "
       "that follow",
       "queue pair 0, entry 9: retry_exceeded: no acknowledgement has come, and sent 7 times again"});
}

TEST_CASE("nic: a peer that is gone") {
  require_logged(run({[](Host& host) {
                        REQUIRE(t3_host_barrier(&host.gpu) == T3_OK);
                        require_end(host.send(host.message(T3_NIC_WRITE, 8)), T3_NIC_RETRY_EXCEEDED, T3_NO_PEER, 0);
                      },
                      [](Host& host) {
                        REQUIRE(t3_nic_destroy_qp(&host.gpu, &host.queue) == T3_OK);
                        REQUIRE(t3_host_barrier(&host.gpu) == T3_OK);
                      }}),
                 {"write packet 0 of queue pair 0 of NIC 0 for queue pair 0 in reset with peer 0 of NIC 0 is dropped",
                  "queue pair 0, entry 0: retry_exceeded: no acknowledgement has come, and sent 7 times again without "
                  "progress"});
}

TEST_CASE("nic: a peer without a receive entry") {
  require_logged(run({[](Host& host) {
                        require_end(host.send(host.message(T3_NIC_WRITE_IMMEDIATE, 8)), T3_NIC_RNR_RETRY_EXCEEDED,
                                    T3_PEER_FAILED, 0);
                      },
                      nullptr}),
                 {"queue pair 0, entry 0: rnr_retry_exceeded: the receiver of packet 0 has no receive entry, 6 times "
                  "again"});
}

TEST_CASE("nic: a fetch-and-add where near-memory units are off or that is not aligned") {
  require_logged(
      run({[](Host& host) {
             require_end(host.send(host.message(T3_NIC_FETCH_ADD, 8)), T3_NIC_REMOTE_OPERATION, T3_DISABLED,
                         host.others_data);
             host.go_on();
             t3_nic_message odd = host.message(T3_NIC_FETCH_ADD, 8);
             odd.remote_address += 4;
             require_end(host.send(odd), T3_NIC_REMOTE_INVALID_REQUEST, T3_INVALID_ARGUMENT, odd.remote_address);
           },
           [](Host& host) {
             REQUIRE(host.hal->write32(host.hal->platform, t3_block_base(1, T3_BLOCK_NEAR_MEMORY), 0) == T3_OK);
             host.go_on();
           }}),
      {"fetch-and-add while near_memory.control.enable is 0",
       "memory has refused 8 bytes at 0x100000001000 of a peer's message to queue pair 0: near-memory compute is off",
       "queue pair 0, entry 0: remote_operation: NIC 1 has refused 0x100000001000: the peer's memory has refused the "
       "access, for the reason in the completion: the unit that should do this is switched off",
       "fetch-and-add at 0x100000001004: a multiple of 8 expected", "queue pair 0, entry 1: remote_invalid_request"});
}

TEST_CASE("nic: both sides are wrong, and each says what the other was refused") {
  require_logged(run({[](Host& host) {
                        t3_nic_message wrong = host.message(T3_NIC_WRITE, 64);
                        wrong.rkey += 1;
                        require_flushed(host.send(wrong), T3_NIC_CAUSE_PEERS_REQUEST, T3_NIC_REMOTE_ACCESS, host.data);
                      },
                      [](Host& host) {
                        t3_nic_message wrong = host.message(T3_NIC_WRITE, 64);
                        wrong.rkey += 2;
                        require_flushed(host.send(wrong), T3_NIC_CAUSE_PEERS_REQUEST, T3_NIC_REMOTE_ACCESS, host.data);
                      }}),
                 {"NIC 1: write packet 0 of queue pair 0 of NIC 0 for queue pair 0: remote_access: key 0x2",
                  "NIC 0: write packet 0 of queue pair 0 of NIC 1 for queue pair 0: remote_access: key 0x3"});
}

TEST_CASE("nic: registers of a queue pair at work") {
  require_logged(run({[](Host& host) {
                        const auto write = [&](std::uint32_t offset) {
                          return host.hal->write32(host.hal->platform, host.reg(offset), 4);
                        };
                        CHECK(write(T3_NIC_SEND_ENTRIES_OFFSET) == T3_BAD_VALUE);
                        CHECK(write(T3_NIC_RETRY_OFFSET) == T3_BAD_VALUE);
                        CHECK(write(T3_NIC_COMPLETION_ENTRIES_OFFSET) == T3_BAD_VALUE);
                        CHECK(host.send(host.message(T3_NIC_WRITE, 8)).syndrome == T3_NIC_OK);
                      },
                      nullptr}),
                 {"nic.send_entries[0]: 0x4, queue pair in reset expected, it is in ready_to_send",
                  "nic.retry[0]: 0x4, queue pair in reset or init expected, it is in ready_to_send",
                  "nic.completion_entries[0]: 0x4, queue pair 0 in reset expected, whose completions go here, it is in "
                  "ready_to_send"});
}

TEST_CASE("nic: a queue that was reset") {
  require_logged(run({[](Host& host) {
                        t3_nic_queue wrong = host.queue;
                        wrong.number = wrong.completion_queue = 1, wrong.memory += 32;
                        CHECK(t3_nic_create_qp(&host.gpu, &wrong) == T3_UNALIGNED);
                        wrong.memory -= 32, wrong.entries = 12;
                        CHECK(t3_nic_create_qp(&host.gpu, &wrong) == T3_INVALID_ARGUMENT);
                        CHECK(t3_close(&host.gpu) == T3_BUSY);
                        REQUIRE(t3_nic_destroy_qp(&host.gpu, &host.queue) == T3_OK);
                        CHECK(host.post(host.message(T3_NIC_WRITE, 8)) == T3_INVALID_ARGUMENT);
                        CHECK(connect(&host.gpu, &host.queue, 1, 0) == T3_INVALID_ARGUMENT);
                      },
                      nullptr}),
                 {});
}

TEST_CASE("nic: memory of a queue that is not its own") {
  require_logged(run({[](Host& host) {
                        t3_nic_queue second = host.queue;
                        second.number = second.completion_queue = 1;
                        const auto create_at = [&](std::uint64_t memory) {
                          second.memory = memory;
                          return t3_nic_create_qp(&host.gpu, &second);
                        };
                        CHECK(create_at(host.queue.memory) == T3_OVERLAP);
                        const std::uint64_t bytes = t3_nic_queue_bytes(entries), first = host.data;
                        CHECK(create_at(t3_on_gpu(host.hal->gpu, 0)) == T3_INVALID_ARGUMENT);
                        CHECK(create_at(first + piece - bytes + 64) == T3_INVALID_ARGUMENT);
                        CHECK(create_at(host.queue.memory + 8 * bytes) == T3_INVALID_ARGUMENT);
                        REQUIRE(create_at(first) == T3_OK);
                        t3_nic_queue third = second;
                        third.number = third.completion_queue = 2;
                        third.memory = first + bytes - 64;
                        CHECK(t3_nic_create_qp(&host.gpu, &third) == T3_OVERLAP);
                        REQUIRE(t3_nic_destroy_qp(&host.gpu, &second) == T3_OK);
                        REQUIRE(t3_nic_create_qp(&host.gpu, &third) == T3_OK);
                        REQUIRE(t3_nic_destroy_qp(&host.gpu, &third) == T3_OK);
                      },
                      nullptr}),
                 {});
}

TEST_CASE("nic: a syndrome has one code, in the log and in the driver") {
  for (const NicSyndrome syndrome : nic_syndrome_values) {
    t3_nic_completion end{};
    end.syndrome = static_cast<std::uint8_t>(syndrome);
    CAPTURE(name_of(syndrome));
    CHECK(static_cast<Status>(t3_nic_status(&end)) == nic::status_of(syndrome));
  }
}

TEST_CASE("nic: regions that cannot be") {
  require_logged(
      run({[](Host& host) {
             std::uint32_t key = 0;
             CHECK(t3_nic_reg_mr(&host.gpu, host.data, 0, 0, &key) == T3_INVALID_ARGUMENT);
             CHECK(t3_nic_reg_mr(&host.gpu, state_of(&host.gpu)->memory_end - 1, 2, 0, &key) == T3_BAD_ADDRESS);
             CHECK(t3_nic_reg_mr(&host.gpu, host.data, 8, 0, &key) == T3_OK);
             CHECK(t3_nic_dereg_mr(&host.gpu, key) == T3_OK);
             CHECK(t3_nic_dereg_mr(&host.gpu, key) == T3_INVALID_ARGUMENT);
           },
           nullptr}),
      {"region of 0x0 bytes at 0x1000: 1 byte or more, and no wrap, expected", "memory of one GPU expected",
       "is withdrawn: one of a registered region expected"});
}

}  // namespace t3vp::test::nic_test
