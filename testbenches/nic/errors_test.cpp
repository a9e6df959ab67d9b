#include "nic/nic_bench.h"
#include "nic/syndrome_status.h"

namespace t3vp::test::errors_test {

using namespace nic;

namespace {

/// On a queue pair of its own, posts good writes before and behind what `post` posts: the first ends well, then it with
/// the syndrome and this text in a log, the last is flushed, as is what is posted later.
template <typename Post>
void require_failure(NicBench& bench, std::uint32_t queue, NicSyndrome syndrome, const std::string& text, Post post) {
  INFO("expected: " << text);
  bench.connect(queue);
  bench.a.registers.set("interrupt", 2);
  bench.a.registers.reported.clear();
  bench.b.registers.reported.clear();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.b.bytes[Side::data] = 0;
  bench.a.post_inline(bench.b.base + Side::data, key, {1}, queue, false);
  post();
  bench.a.post_inline(bench.b.base + Side::data + 1, key, {2}, queue);
  bench.a.ring(queue);
  bench.settle();
  REQUIRE(bench.b.bytes[Side::data] == 1);
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 2);
  REQUIRE(done[0].index == 1);
  REQUIRE(done[0].queue_pair == queue);
  REQUIRE(syndrome_of(done[0]) == syndrome);
  REQUIRE(done[1].index == 2);
  REQUIRE(syndrome_of(done[1]) == NicSyndrome::flushed);
  REQUIRE(bench.a.state(queue) == error_state);
  REQUIRE(bench.a.interrupt.read());
  REQUIRE(bench.a.registers["interrupt"] == 2);
  REQUIRE(bench.a.registers.reported.size() == 1);
  INFO(bench.a.registers.reported.back().text);
  const Status code = done[0].reason != 0 ? static_cast<Status>(done[0].reason) : status_of(syndrome);
  REQUIRE(static_cast<Status>(bench.a.registers.reported.back().code) == code);
  REQUIRE((bench.a.has_reported(text) || bench.b.has_reported(text)));
  REQUIRE(bench.a.nic.diagnosis().empty());
  bench.a.post_inline(bench.b.base + Side::data, key, {3}, queue);
  REQUIRE(bench.a.ring(queue) == tlm::TLM_OK_RESPONSE);
  bench.settle();
  const auto later = bench.a.completions();
  REQUIRE(later.size() == 1);
  REQUIRE(syndrome_of(later[0]) == NicSyndrome::flushed);
  REQUIRE(later[0].index == 3);
}

}  // namespace

TEST_CASE("what the entry's head says wrong is a local operation error that names it") {
  NicBench bench;
  std::uint32_t queue = 0;
  const auto require = [&](const std::string& text, auto change) {
    ++queue;
    require_failure(bench, queue, NicSyndrome::local_operation, text, [&] {
      t3_nic_work_entry head = bench.a.head(NicOpcode::write, bench.b.base + Side::data, 0, queue);
      change(head);
      bench.a.post(head, {}, queue);
    });
  };
  require("opcode 77: write, write_immediate, read, fetch_add or accumulate expected",
          [](auto& head) { head.opcode = 77; });
  require("index 5: 1 expected", [](auto& head) { head.index = 5; });
  require("queue pair 9: 3 expected", [](auto& head) { head.queue_pair = 9; });
  require("flags 0x41: bits of 0x7 only expected", [](auto& head) { head.flags = 0x41; });
  require("reserved fields are not 0", [](auto& head) { head.reserved = 1; });
}

TEST_CASE("lengths that do not fit are local length errors") {
  NicParameters parameters;
  parameters.message_bytes = 0x1000;
  NicBench bench(parameters);
  const std::uint32_t key = bench.a.region(Side::data, 0x2000);
  const std::uint64_t at = bench.a.base + Side::data;
  std::uint32_t queue = 0;
  const auto require = [&](const std::string& text, NicOpcode opcode, int flags, std::uint8_t inline_bytes,
                           std::uint8_t segments, const std::vector<t3_nic_segment>& content) {
    ++queue;
    require_failure(bench, queue, NicSyndrome::local_length, text, [&] {
      t3_nic_work_entry head = bench.a.head(opcode, bench.b.base + Side::data, 0, queue);
      head.flags = static_cast<std::uint8_t>(flags);
      head.inline_bytes = inline_bytes;
      head.segments = segments;
      bench.a.post(head, Side::tail_of(content), queue);
    });
  };
  const int in_entry = T3_NIC_WORK_ENTRY_FLAGS_INLINE;
  require("33 inline bytes: at most 32 expected", NicOpcode::write, in_entry, 33, 0, {});
  require("3 segments: at most 2 expected", NicOpcode::write, 0, 0, 3, {});
  require("4097 bytes: at most 4096 expected", NicOpcode::write, 0, 0, 1, {{at, key, 4097}});
  require("read with inline data: segments expected", NicOpcode::read, in_entry, 8, 0, {});
  require("fetch_add with 2 segments: 1 expected", NicOpcode::fetch_add, 0, 0, 2, {});
  require("a result of 4 bytes: 8 expected", NicOpcode::fetch_add, 0, 0, 1, {{}, {at, key, 4}});
}

TEST_CASE("a segment that its key does not cover is a local protection error with its address") {
  NicBench bench;
  const std::uint32_t key = bench.a.region(Side::data, 0x100, remote_read), old = bench.a.region(Side::data, 0x100);
  bench.a.withdraw(old);
  REQUIRE(bench.a.region(Side::data, 0x100) >> 8 == old >> 8);
  const std::uint64_t at = bench.a.base + Side::data;
  std::uint32_t queue = 0;
  const auto require = [&](const std::string& text, const t3_nic_segment& segment,
                           NicOpcode opcode = NicOpcode::write) {
    ++queue;
    const std::uint64_t place = Side::completions_of(0) + 32 * bench.a.registers.element("produced", 0);
    require_failure(bench, queue, NicSyndrome::local_protection, text,
                    [&] { bench.a.post_segments(opcode, bench.b.base + Side::data, 0, {segment}, queue); });
    REQUIRE(t3_nic_completion_from(&bench.a.bytes[place]).address == segment.address);
  };
  require("0x101 bytes at", {at, key, 0x101});
  require("within its 0x100 bytes at", {at - 1, key, 2});
  require("is not valid: one of a registered region expected", {at, key + 1, 1});
  require("is not valid: one of a registered region expected", {at, old, 1});
  require("a region with the right local_write expected", {at, key, 1}, NicOpcode::read);
  bench.a.refused = Side::data;
  require("its data could not be read", {at, key, 1});
}

TEST_CASE("what the peer's key does not permit is a remote access error that both sides log") {
  NicBench bench;
  const std::uint32_t key = bench.b.region(Side::data + 0x100, 0x100, remote_write),
                      readable = bench.b.region(Side::data + 0x100, 0x100, remote_read),
                      old = bench.b.region(Side::data + 0x100, 0x100);
  bench.b.withdraw(old);
  const std::uint64_t at = bench.b.base + Side::data + 0x100;
  std::uint32_t queue = 0;
  const auto require = [&](const std::string& text, std::uint64_t address, std::uint32_t used) {
    ++queue;
    require_failure(bench, queue, NicSyndrome::remote_access, text, [&] {
      bench.a.post_inline(address, used, {1, 2}, queue);
    });
    REQUIRE(bench.a.has_reported("NIC 1 has refused"));
    REQUIRE(bench.b.state(queue) == error_state);
    REQUIRE(bench.b.content(Side::data + 0x100, 0x100) == std::vector<unsigned char>(0x100));
  };
  require("0x2 bytes at", at + 0xFF, key);
  require("a region with the right remote_write expected", at, readable);
  require("is not valid", at, old);
}

TEST_CASE("memory that refuses a peer's write is a remote operation error") {
  NicBench bench;
  bench.b.refused = Side::data + 0x100;
  const std::uint32_t key = bench.b.region(Side::data + 0x100, 0x100);
  require_failure(bench, 1, NicSyndrome::remote_operation, "NIC 1 has refused", [&] {
    bench.a.post_inline(bench.b.base + Side::data + 0x100, key, {1, 2}, 1);
  });
  REQUIRE(bench.b.has_reported("memory has refused 2 bytes"));
}

TEST_CASE("a refusal comes when what was sent before it is in place") {
  NicBench bench;
  bench.connect();
  bench.b.memory.latency = 50'000'000;
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, key, {1});
  bench.a.post_inline(bench.b.base + Side::data, key + 1, {2});
  bench.a.ring();
  bench.settle();
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 2);
  REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
  REQUIRE(syndrome_of(done[1]) == NicSyndrome::remote_access);
  const Picoseconds placed = bench.b.memory.arrivals().front().at + bench.b.memory.latency;
  const auto& stores = bench.a.memory.arrivals();
  REQUIRE(stores[stores.size() - 2].at > placed);
}

TEST_CASE("a key that is withdrawn while its message is on the way ends the message") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  bench.a.post_segments(NicOpcode::write, bench.b.base + 0x20000, remote, {{bench.a.base + 0x20000, key, 0x40000}});
  bench.a.ring();
  while (bench.b.memory.arrivals().size() < 5) bench.run_for(10'000);
  bench.b.withdraw(remote);
  bench.settle();
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 1);
  REQUIRE(syndrome_of(done[0]) == NicSyndrome::remote_access);
  REQUIRE(bench.b.memory.arrivals().size() < 64);
}

TEST_CASE("a doorbell is refused before the queue pair is ready to send") {
  NicBench bench;
  for (const std::uint64_t to : {reset_state, init, ready_to_receive}) {
    const auto queue = static_cast<std::uint32_t>(to);
    bench.a.describe_queue_pair(queue, 0, 1, 0);
    for (std::uint64_t state = init; state <= to; ++state) bench.a.go_to(state, queue);
    bench.a.post_inline(bench.b.base + Side::data, 0, {1}, queue);
    bench.a.registers.set("interrupt", 2);
    bench.a.registers.reported.clear();
    REQUIRE(bench.a.ring(queue) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(bench.a.has_reported("queue pair in ready_to_send expected"));
    REQUIRE(bench.a.registers["interrupt"] == 2);
    bench.settle();
    REQUIRE(bench.a.memory.arrivals().empty());
  }
}

TEST_CASE("more entries than the send queue has are an error that flushes them") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  for (std::uint32_t i = 0; i < Side::entries + 1; ++i) bench.a.post_inline(bench.b.base + Side::data, key, {1});
  bench.a.ring();
  bench.settle();
  REQUIRE(bench.a.has_reported("17 entries are posted and 0 have ended: at most the 16 of its send queue expected"));
  REQUIRE(bench.a.completions().size() == Side::entries);
  REQUIRE(bench.a.state() == error_state);
}

TEST_CASE("a doorbell before its record is logged, and what the record says is done") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, key, {1});
  bench.a.registers.set("doorbell", 1);
  bench.settle();
  REQUIRE(bench.a.has_reported("the doorbell says 1 entries, its record 0"));
  REQUIRE(bench.a.registers["interrupt"] == 2);
  REQUIRE(bench.a.completions().empty());
  bench.a.ring();
  bench.settle();
  REQUIRE(bench.a.completions().size() == 1);
}

TEST_CASE("a fetch-and-add where near-memory units are off is refused, and both sides say why") {
  NicBench bench;
  bench.b.adds = false;
  const std::uint32_t key = bench.a.region(Side::data, 64), remote = bench.b.region(Side::data, 64);
  const std::uint64_t place = Side::completions_of(0);
  require_failure(bench, 1, NicSyndrome::remote_operation, "the unit that should do this is switched off", [&] {
    bench.a.post_add(bench.b.base + Side::data + 8, remote, 1, {bench.a.base + Side::data, key, 8}, 1);
  });
  REQUIRE(bench.b.has_reported("memory has refused 8 bytes at 0x1000000a0008 of a peer's message to queue pair 1"));
  for (const Side* side : {&bench.a, &bench.b})
    REQUIRE(side->registers.reported.front().code == static_cast<std::uint32_t>(Status::disabled));
  REQUIRE(t3_nic_completion_from(&bench.a.bytes[place]).reason == static_cast<std::uint8_t>(Status::disabled));
}

TEST_CASE("a completion queue without room overruns, which is logged, and its queue pairs are in error") {
  NicBench bench;
  bench.a.completion_queue(0, 4);
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  for (std::uint32_t i = 0; i < 6; ++i) bench.a.post_inline(bench.b.base + Side::data, key, {1});
  bench.a.ring();
  bench.settle();
  REQUIRE(bench.a.completions(0, 4).size() == 4);
  REQUIRE(bench.a.registers["overrun"] == 1);
  REQUIRE(bench.a.has_reported("completion queue 0 overruns: 4 of its 4 entries are not consumed"));
  REQUIRE(bench.a.state() == error_state);
  REQUIRE(bench.a.interrupt.read());
  REQUIRE(bench.a.nic.diagnosis().empty());
}

TEST_CASE("states are taken in their order, each with what it needs") {
  NicBench bench;
  bench.a.describe_queue_pair(0, 0, 1, 0);
  const auto refused = [&](const std::string& text) {
    INFO((bench.a.registers.reported.empty() ? "no report" : bench.a.registers.reported.back().text));
    const bool found = bench.a.registers.reported.size() == 1 && bench.a.has_reported(text);
    bench.a.registers.reported.clear();
    return found;
  };
  REQUIRE(bench.a.go_to(ready_to_send) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(refused("reset or init expected of a queue pair in reset"));
  for (const auto& [name, value, text] : std::vector<std::tuple<std::string, std::uint64_t, std::string>>{
           {"send_entries", 12, "send_entries 12: a power of two, at most 32768, expected"},
           {"send_base", 32, "send_base 0x20: a multiple of 64 expected"},
           {"send_base", Side::size, "send queue of 16 entries at 0x100000: memory expected"},
           {"doorbell_record", 2, "doorbell_record 0x2: 4 aligned bytes of memory expected"},
           {"completion_queue", 7, "completion queue 7 has no entries"}}) {
    bench.a.describe_queue_pair(0, 0, 1, 0);
    bench.a.registers.set(name, value);
    REQUIRE(bench.a.go_to(init) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(refused(text));
    REQUIRE(bench.a.state() == reset_state);
  }
  bench.a.describe_queue_pair(0, 0, 1, 200);
  REQUIRE(bench.a.go_to(init) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.a.go_to(ready_to_receive) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(refused("peer.queue_pair 200: at most 63 expected"));
}

TEST_CASE("regions that are empty, wrap, lie outside of memory or are too many are refused") {
  NicParameters parameters;
  parameters.regions = 2;
  NicBench bench(parameters);
  const auto status = [&](std::uint64_t at, std::uint64_t length) {
    bench.a.region(at, length);
    return bench.a.registers.command_status();
  };
  REQUIRE(status(0, 0) == Status::invalid_argument);
  REQUIRE(status(~std::uint64_t{0}, 2) == Status::invalid_argument);
  REQUIRE(status(Side::size - 1, 2) == Status::bad_address);
  REQUIRE(status(0, 1) == Status::ok);
  REQUIRE(status(0, Side::size) == Status::ok);
  REQUIRE(status(0, 1) == Status::table_full);
  REQUIRE(bench.a.registers["regions"] == 2);
  bench.a.withdraw(0x55);
  REQUIRE(bench.a.registers.command_status() == Status::invalid_argument);
  REQUIRE(bench.a.registers.reported.size() == 5);
}

TEST_CASE("a queue pair that is reset forgets its entries and can be connected anew") {
  NicBench bench;
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  const auto write = [&] {
    bench.connect();
    bench.a.post_segments(NicOpcode::write, bench.b.base + 0x20000, remote, {{bench.a.base + 0x20000, key, 0x40000}});
    bench.a.ring();
  };
  for (Picoseconds after = 100'000; after < 4'000'000; after += 300'000) {
    write();
    bench.run_for(after);
    for (Side* side : {&bench.a, &bench.b}) side->go_to(reset_state);
    bench.settle();
    REQUIRE(bench.a.completions().empty());
    REQUIRE(bench.a.nic.diagnosis().empty());
    write();
    bench.settle();
    const auto done = bench.a.completions();
    REQUIRE(done.size() == 1);
    REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
    for (Side* side : {&bench.a, &bench.b}) side->go_to(reset_state);
  }
}

}  // namespace t3vp::test::errors_test
