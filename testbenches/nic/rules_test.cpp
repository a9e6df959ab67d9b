// Rules for software that changes a queue pair in use, and the reports of broken ones.
#include "nic/nic_bench.h"

namespace t3vp::test::rules_test {

using namespace nic;

TEST_CASE("a doorbell that announces nothing new is refused, of firmware and of kernels") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  for (int i = 0; i < 2; ++i) bench.a.post_inline(bench.b.base + Side::data, key, {1});
  REQUIRE(bench.a.ring() == tlm::TLM_OK_RESPONSE);
  for (const bool settled : {false, true}) {
    if (settled) bench.settle();
    bench.a.registers.set("interrupt", 2);
    bench.a.registers.reported.clear();
    REQUIRE(bench.a.ring() == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(bench.a.has_reported("nic.doorbell[0]: 0x2, more than 0x2, which the last one has announced, expected"));
    REQUIRE(bench.a.registers["interrupt"] == 2);
    REQUIRE(bench.a.registers.set("doorbell", 1) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  bench.a.registers.reported.clear();
  const std::size_t number = bench.a.ring_by_kernel();
  bench.settle();
  REQUIRE(bench.a.kernel.answer(number).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.a.kernel.answer(number).refusal == static_cast<std::uint32_t>(Status::bad_value));
  REQUIRE(bench.a.has_reported("nic.doorbell[0]: 0x2, more than 0x2, which the last one has announced, expected"));
  REQUIRE(bench.a.completions().size() == 2);
  for (Side* side : {&bench.a, &bench.b}) side->go_to(reset_state);
  bench.connect();
  bench.a.post_inline(bench.b.base + Side::data, key, {1});
  REQUIRE(bench.a.ring() == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("what describes a queue pair is not written while it is at work") {
  NicBench bench;
  const auto refused = [&](const char* name, std::uint64_t value, std::uint32_t queue, const std::string& text) {
    bench.a.registers.reported.clear();
    const std::uint64_t before = bench.a.registers.element(name, queue);
    INFO(name << " " << value);
    REQUIRE(bench.a.registers.set(name, value, queue) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(bench.a.has_reported(text));
    REQUIRE(bench.a.registers.element(name, queue) == before);
  };
  for (const std::uint64_t to : {init, ready_to_receive, ready_to_send, error_state}) {
    const auto queue = static_cast<std::uint32_t>(to);
    bench.connect(queue, std::min(to, ready_to_send));
    if (to == error_state) bench.a.go_to(error_state, queue);
    const std::string now = fmt::format("expected, it is in {}", name_of(static_cast<QueuePairState>(to)));
    for (const char* name : {"send_base", "doorbell_record", "send_entries", "completion_queue"})
      refused(name, 8, queue, "queue pair in reset " + now);
    if (to == init) {
      REQUIRE(bench.a.registers.set("retry", 5, queue) == tlm::TLM_OK_RESPONSE);
      REQUIRE(bench.a.registers.set("peer", queue, queue) == tlm::TLM_OK_RESPONSE);
    } else {
      for (const char* name : {"peer", "retry"}) refused(name, 3, queue, "queue pair in reset or init " + now);
    }
  }
  const std::string user = "queue pair 1 in reset expected, whose completions go here, it is in init";
  refused("completion_base", 0x1000, 0, user);
  refused("completion_entries", 8, 0, user);
  REQUIRE(bench.a.registers.set("completion_entries", 8, 1) == tlm::TLM_OK_RESPONSE);
  for (std::uint32_t queue = 1; queue < 5; ++queue) bench.a.go_to(reset_state, queue);
  bench.a.completion_queue(0, 8);
  REQUIRE(bench.a.registers.element("completion_entries", 0) == 8);
}

TEST_CASE("a flushed entry says why its queue pair is in error") {
  NicBench bench;
  const std::uint32_t key = bench.b.region(Side::data, 64);
  std::uint32_t queue = 0;
  const auto require = [&](NicCause what, NicSyndrome syndrome, std::uint64_t address, auto spoil) {
    bench.connect(++queue);
    spoil();
    bench.a.post_inline(bench.b.base + Side::data, key, {1}, queue);
    bench.a.ring(queue);
    bench.settle();
    const auto done = bench.a.completions();
    INFO(name_of(what));
    REQUIRE(!done.empty());
    REQUIRE(syndrome_of(done.back()) == NicSyndrome::flushed);
    REQUIRE(static_cast<NicCause>(done.back().cause) == what);
    REQUIRE(static_cast<NicSyndrome>(done.back().cause_syndrome) == syndrome);
    REQUIRE(done.back().address == address);
  };
  const std::uint64_t there = bench.b.base + Side::data, here = bench.a.base + Side::data;
  require(NicCause::own_entry, NicSyndrome::remote_access, there + 64,
          [&] { bench.a.post_inline(there + 64, key, {1}, queue); });
  require(NicCause::peers_request, NicSyndrome::remote_access, here, [&] {
    bench.b.post_inline(here, 0x77, {1}, queue);
    bench.b.ring(queue);
    bench.settle();
    REQUIRE(bench.a.state(queue) == error_state);
  });
  require(NicCause::software, NicSyndrome::ok, 0, [&] { bench.a.go_to(error_state, queue); });
  require(NicCause::send_queue, NicSyndrome::ok, 0, [&] {
    for (std::uint32_t i = 0; i < Side::entries; ++i) bench.a.post_inline(there, key, {1}, queue);
  });
}

}  // namespace t3vp::test::rules_test
