// NICs as blocks of GPUs: programs drive them over the control bus, kernels ring their doorbells, memory is behind
// them.
#include "nic_node.h"

namespace t3vp::test::nic_test {

namespace {

std::vector<unsigned char> some_bytes(std::uint32_t count, std::uint32_t seed) {
  std::vector<unsigned char> bytes(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(seed + i * 7 + i / 251);
  return bytes;
}

/// b waits with what it has until a has ended.
struct Meeting {
  std::uint32_t key = 0;
  bool is_ready = false, has_ended = false;

  void be_ready(NicDriver& driver, std::uint16_t peer) {
    key = driver.key_of_data();
    driver.connect(peer);
    is_ready = true;
  }
  static void await(NicDriver& driver, const bool& what) {
    while (!what) driver.processor().wait_ns(1000);
  }
};

/// The doorbell of queue pair 0.
constexpr std::uint64_t doorbell = address_map::block_base(address_map::Block::nic) + registers::Nic::doorbell_offset;

constexpr std::uint64_t at_b(std::uint64_t local) { return address_map::on_gpu(1, local); }

}  // namespace

TEST_CASE("an RDMA write between GPUs without a link moves data from memory to memory, and interrupts") {
  NicNode bench;
  Meeting meeting;
  const std::vector<unsigned char> content = some_bytes(10'001, 3);
  const auto of_a = [&](NicDriver& driver) {
    CHECK(driver.get("number") == 0);
    const std::uint32_t key = driver.key_of_data();
    driver.connect(1);
    driver.write(NicDriver::data, content);
    Meeting::await(driver, meeting.is_ready);
    processor::CommandProcessor& p = driver.processor();
    const std::uint64_t controller = driver.here(address_map::block_base(address_map::Block::interrupt_controller));
    p.write32(controller + 4, address_map::bit_of(address_map::Line::nic));
    driver.set("arm", 1);
    driver.post_write(driver.here(NicDriver::data), at_b(NicDriver::data + 5), 10'001, key, meeting.key);
    CHECK(driver.ring_doorbell() == Status::ok);
    CHECK(p.wait_for_interrupt("the NIC", p.time_ns() + 100'000) == Status::ok);
    CHECK(driver.get("interrupt") == 1);
    CHECK(driver.get("event") == 1);
    driver.set("interrupt", 1);
    std::uint32_t pending = 0;
    p.read32(controller, pending);
    CHECK(pending == 0);
    const t3_nic_completion done = driver.await_completion(1);
    CHECK(done.phase == 1);
    CHECK(done.syndrome == 0);
    CHECK(done.bytes == 10'001);
    meeting.has_ended = true;
  };
  const auto of_b = [&](NicDriver& driver) {
    CHECK(driver.get("number") == 1);
    meeting.be_ready(driver, 0);
    Meeting::await(driver, meeting.has_ended);
    CHECK(driver.read(NicDriver::data + 5, 10'001) == content);
    CHECK(driver.read(NicDriver::data, 5) == std::vector<unsigned char>(5));
    CHECK(driver.read(NicDriver::data + 5 + 10'001, 5) == std::vector<unsigned char>(5));
  };
  bench.run(of_a, of_b);
  CHECK(bench.a().error_log.records().empty());
  CHECK(bench.b().error_log.records().empty());
  CHECK(bench.node.wire()->lost() == 0);
}

namespace {

/// Sends inline data by a kernel's doorbell.
void ring_as_kernel(bool functional) {
  NicNode bench(two_gpus(functional));
  Meeting meeting;
  bool posted = false;
  const std::vector<unsigned char> content = some_bytes(32, 9);
  sc_core::sc_spawn([&] {
    while (!posted) sc_core::wait(1, sc_core::SC_US);
    std::vector<unsigned char> count = {1, 0, 0, 0};
    CHECK(access_as_kernel(bench.a(), Operation::store, doorbell, count) == tlm::TLM_OK_RESPONSE);
  });
  const auto of_a = [&](NicDriver& driver) {
    driver.connect(1);
    Meeting::await(driver, meeting.is_ready);
    driver.post_inline(at_b(NicDriver::data), meeting.key, content);
    driver.announce();
    posted = true;
    const t3_nic_completion done = driver.await_completion();
    CHECK(done.phase == 1);
    CHECK(done.syndrome == 0);
    meeting.has_ended = true;
  };
  const auto of_b = [&](NicDriver& driver) {
    meeting.be_ready(driver, 0);
    Meeting::await(driver, meeting.has_ended);
    CHECK(driver.read(NicDriver::data, 32) == content);
  };
  bench.run(of_a, of_b);
}

}  // namespace

TEST_CASE("a kernel's store to the doorbell page of its GPU's NIC sends what is posted") { ring_as_kernel(true); }

TEST_CASE("a kernel's doorbell, inline data and completions are real in a run without data") { ring_as_kernel(false); }

namespace {

/// What b's compute units load through their cache before a writes there by RDMA, and after.
std::vector<std::vector<unsigned char>> cached_before_and_after(bool writes_invalidate) {
  NodeParameters parameters = two_gpus();
  parameters.gpus[1].cache.nic_writes_invalidate = writes_invalidate;
  NicNode bench(parameters);
  Meeting meeting;
  bool has_loaded = false;
  std::vector<unsigned char> before(64), after(64);
  sc_core::sc_spawn([&] {
    while (!meeting.is_ready) sc_core::wait(1, sc_core::SC_US);
    CHECK(access_as_kernel(bench.b(), Operation::load, at_b(NicDriver::data), before, true) == tlm::TLM_OK_RESPONSE);
    has_loaded = true;
    while (!meeting.has_ended) sc_core::wait(1, sc_core::SC_US);
    CHECK(access_as_kernel(bench.b(), Operation::load, at_b(NicDriver::data), after, true) == tlm::TLM_OK_RESPONSE);
  });
  const auto of_a = [&](NicDriver& driver) {
    driver.connect(1);
    Meeting::await(driver, has_loaded);
    driver.post_inline(at_b(NicDriver::data), meeting.key, std::vector<unsigned char>(32, 2));
    driver.ring_doorbell();
    CHECK(driver.await_completion().phase == 1);
    meeting.has_ended = true;
  };
  const auto of_b = [&](NicDriver& driver) {
    driver.write(NicDriver::data, std::vector<unsigned char>(64, 1));
    meeting.be_ready(driver, 0);
    Meeting::await(driver, meeting.has_ended);
    CHECK(driver.read(NicDriver::data, 32) == std::vector<unsigned char>(32, 2));
  };
  bench.run(of_a, of_b);
  return {before, after};
}

}  // namespace

TEST_CASE("what the NIC writes is seen by kernels that have it in their cache") {
  const auto loaded = cached_before_and_after(true);
  CHECK(loaded[0] == std::vector<unsigned char>(64, 1));
  std::vector<unsigned char> expected(64, 1);
  std::fill_n(expected.begin(), 32, static_cast<unsigned char>(2));
  CHECK(loaded[1] == expected);
}

TEST_CASE("what the NIC writes stays stale in a cache that its writes do not invalidate") {
  const auto loaded = cached_before_and_after(false);
  CHECK(loaded[0] == std::vector<unsigned char>(64, 1));
  CHECK(loaded[1] == loaded[0]);
}

TEST_CASE("a doorbell before the memory writes in front of it are ordered is refused") {
  NicNode bench;
  const auto of_a = [](NicDriver& driver) {
    driver.connect(1);
    const unsigned char count[4] = {1};
    processor::CommandProcessor& p = driver.processor();
    p.order_writes();
    p.write_memory(driver.here(NicDriver::record), count, 4);
    CHECK(driver.set("doorbell", 0, 0) == Status::bad_access);
    CHECK(driver.set("doorbell", 0, 63) == Status::bad_access);
    CHECK(driver.set("consumed", 0) == Status::ok);
    p.order_writes();
    CHECK(driver.set("doorbell", 1) == Status::ok);
  };
  bench.run(of_a, [](NicDriver&) {});
}

TEST_CASE("a GPU without a NIC answers with address errors, and says why") {
  NicNode bench(two_gpus(true, false));
  std::uint32_t value = 0;
  const auto of_a = [&](NicDriver& driver) {
    CHECK(driver.processor().read32(driver.address_of("number"), value) == Status::bad_address);
    CHECK(driver.set("state", 1, 3) == Status::bad_address);
  };
  sc_core::sc_spawn([&] {
    std::vector<unsigned char> count = {1, 0, 0, 0};
    CHECK(access_as_kernel(bench.b(), Operation::store, at_b(doorbell), count) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
  bench.run(of_a, [](NicDriver&) {});
  REQUIRE(bench.a().error_log.records().size() == 2);
  CHECK(has_logged(bench.a(), "read of 4 bytes at 0xf00000c0030: this system has no NIC"));
  CHECK(has_logged(bench.a(), "write of 4 bytes at 0xf00000c10e0: this system has no NIC"));
  REQUIRE(bench.b().error_log.records().size() == 1);
  CHECK(has_logged(bench.b(), "write of 4 bytes at 0x1f00000c4000: this system has no NIC"));
  CHECK(bench.node.wire() == nullptr);
}

TEST_CASE("a NIC whose peer's GPU has none finds nobody there") {
  NodeParameters parameters = two_gpus();
  parameters.gpus[1].nic.reset();
  NicNode bench(parameters);
  const auto of_a = [&](NicDriver& driver) {
    driver.set("retry", 1 | 1 << 8);
    driver.connect(1);
    driver.post_inline(at_b(NicDriver::data), 1, {1});
    driver.ring_doorbell();
    CHECK(driver.await_completion().syndrome == static_cast<std::uint8_t>(NicSyndrome::retry_exceeded));
  };
  bench.run(of_a, [](NicDriver&) {});
}

namespace {

constexpr std::uint32_t long_write = 0x80000;  // of which an MTU takes 166 ns

void reset_gpu(NicDriver& driver) {
  processor::CommandProcessor& p = driver.processor();
  p.write32(driver.here(address_map::block_base(address_map::Block::system) + 0x18), 0xA7000000);
  p.wait_ns(2);
}

}  // namespace

TEST_CASE("a GPU's reset forgets its NIC's work under way, and the NIC can be programmed anew") {
  NicNode bench;
  Meeting meeting;
  bool again = false;
  const std::vector<unsigned char> content = some_bytes(1000, 5);
  const auto of_a = [&](NicDriver& driver) {
    const std::uint32_t first_key = driver.key_of_data();
    driver.connect(1);
    Meeting::await(driver, meeting.is_ready);
    driver.post_write(driver.here(NicDriver::data), at_b(NicDriver::data), long_write, first_key, meeting.key);
    driver.ring_doorbell();
    driver.processor().wait_ns(10'000);
    CHECK(driver.get("posted") == 1);
    CHECK_FALSE(bench.a().nic->diagnosis().empty());
    reset_gpu(driver);
    CHECK(driver.get("state") == 0);
    CHECK(driver.get("posted") == 0);
    CHECK(driver.get("regions") == 0);
    CHECK(driver.get("messages") == 0);
    CHECK(driver.get("number") == 0);
    CHECK(bench.a().nic->diagnosis().empty());
    driver.processor().wait_ns(100'000);
    CHECK(driver.read(NicDriver::completions, 32) == std::vector<unsigned char>(32));
    again = true;
    meeting.is_ready = false;
    Meeting::await(driver, meeting.is_ready);
    const std::uint32_t key = driver.key_of_data();
    CHECK(key != first_key);
    driver.connect(1);
    driver.write(NicDriver::data, content);
    driver.post_write(driver.here(NicDriver::data), at_b(NicDriver::data), 1000, key, meeting.key);
    driver.ring_doorbell();
    const t3_nic_completion done = driver.await_completion();
    CHECK(done.phase == 1);
    CHECK(done.syndrome == 0);
    meeting.has_ended = true;
  };
  const auto of_b = [&](NicDriver& driver) {
    meeting.be_ready(driver, 0);
    Meeting::await(driver, again);
    driver.set("state", 0);
    meeting.be_ready(driver, 0);
    Meeting::await(driver, meeting.has_ended);
    CHECK(driver.read(NicDriver::data, 1000) == content);
  };
  bench.run(of_a, of_b);
}

TEST_CASE("a peer whose GPU is reset with a message under way ends it with an error") {
  NicNode bench;
  Meeting meeting;
  bool is_sending = false;
  const auto of_a = [&](NicDriver& driver) {
    const std::uint32_t key = driver.key_of_data();
    driver.set("retry", 2 | 2 << 8);
    driver.connect(1);
    Meeting::await(driver, meeting.is_ready);
    driver.post_write(driver.here(NicDriver::data), at_b(NicDriver::data), long_write, key, meeting.key);
    driver.ring_doorbell();
    is_sending = true;
    CHECK(driver.await_completion().syndrome == static_cast<std::uint8_t>(NicSyndrome::retry_exceeded));
    CHECK(driver.get("state") == 4);
    CHECK(driver.get("interrupt") == 2);
  };
  const auto of_b = [&](NicDriver& driver) {
    meeting.be_ready(driver, 0);
    Meeting::await(driver, is_sending);
    driver.processor().wait_ns(10'000);
    reset_gpu(driver);
    CHECK(driver.get("state") == 0);
  };
  bench.run(of_a, of_b);
  CHECK(has_logged(bench.b(), "is dropped"));
}

TEST_CASE("lost packets are sent again, and the data are right") {
  NicNode bench;
  Meeting meeting;
  unsigned left = 3;
  const std::vector<unsigned char> content = some_bytes(20'000, 1);
  const auto of_a = [&](NicDriver& driver) {
    const std::uint32_t key = driver.key_of_data();
    driver.set("retry", 7 | 2 << 8);
    driver.connect(1);
    driver.write(NicDriver::data, content);
    Meeting::await(driver, meeting.is_ready);
    bench.node.wire()->drops = [&](const nic::Packet& packet) {
      return packet.from_nic == 0 && left != 0 && left-- != 0;
    };
    driver.post_write(driver.here(NicDriver::data), at_b(NicDriver::data), 20'000, key, meeting.key);
    driver.ring_doorbell();
    CHECK(driver.await_completion().syndrome == 0);
    meeting.has_ended = true;
  };
  const auto of_b = [&](NicDriver& driver) {
    meeting.be_ready(driver, 0);
    Meeting::await(driver, meeting.has_ended);
    CHECK(driver.read(NicDriver::data, 20'000) == content);
  };
  bench.run(of_a, of_b);
  CHECK(bench.node.wire()->lost() == 3);
}

}  // namespace t3vp::test::nic_test
