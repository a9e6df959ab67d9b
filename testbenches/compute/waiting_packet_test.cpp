// Packets that wait for a packet of another queue (AQL's barrier-AND), and what they order.
#include "two_queues.h"

namespace t3vp::test::waiting_packet_test {

using namespace compute;

namespace {

EncodedPacket wait_for(std::uint32_t queue, std::uint64_t packet) {
  EncodedPacket waiting{};
  waiting.header.flags = T3_KERNEL_PACKET_FLAGS_WAIT;
  waiting.header.completion_signal = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;
  waiting.header.workgroups = queue;
  waiting.header.arguments = packet;
  return waiting;
}

/// Puts a packet into the second queue as it is, and does not announce it.
void put_wait(TwoQueues& gpu, const EncodedPacket& waiting) {
  const std::uint64_t entry =
      TwoQueues::second_base + gpu.submitted++ % TwoQueues::entries * T3_KERNEL_PACKET_ENTRY_BYTES;
  t3_kernel_packet_to(&waiting.header, gpu.bench.memory.at(entry));
}

void start_wait(TwoQueues& gpu, const EncodedPacket& waiting) {
  put_wait(gpu, waiting);
  gpu.set("doorbell", 1, gpu.submitted);
}

/// A GEMM that reads what the other one writes.
GemmPacket behind(const TwoQueues& gpu, const GemmCase& first) {
  GemmPacket second = gemm_of(gpu, 8, true).packet;
  second.a = first.packet.out;
  return second;
}

}  // namespace

TEST_CASE("a packet waits for another queue's kernel, and what is behind it may read what that one wrote") {
  TwoQueues gpu;
  const GemmCase first = gemm_of(gpu, 8);
  const GemmPacket second = behind(gpu, first);
  put_wait(gpu, wait_for(0, 1));
  gpu.put_second(second);
  gpu.start(0, first.packet);
  gpu.set("doorbell", 1, 2);
  const auto [first_end, second_end] = gpu.finish();
  REQUIRE(gpu.second_code() == Status::ok);
  REQUIRE(second_end > first_end);
  REQUIRE(gpu.get("completed", 1) == 2);
}

TEST_CASE("without such a packet the same kernel is refused") {
  TwoQueues gpu;
  const GemmCase first = gemm_of(gpu, 8);
  gpu.start(0, first.packet);
  gpu.start(1, behind(gpu, first));
  gpu.finish();
  REQUIRE(gpu.second_code() == Status::busy);
}

TEST_CASE("a packet that waits for what has ended ends at once, and for nothing as well") {
  TwoQueues gpu;
  gpu.run(0, gemm_of(gpu, 4).packet);
  for (const std::uint64_t packet : {1ull, 0ull}) {
    start_wait(gpu, wait_for(0, packet));
    gpu.finish();
    REQUIRE(gpu.second_code() == Status::ok);
  }
}

TEST_CASE("an abort ends a packet that waits and leaves the other queue alone") {
  TwoQueues gpu;
  gpu.start(0, gemm_of(gpu, 30).packet);
  start_wait(gpu, wait_for(0, 1));
  gpu.launch();
  REQUIRE(gpu.busy(1));
  gpu.set("command", 1, 1);
  REQUIRE(gpu.second_code() == Status::aborted);
  gpu.finish();
  REQUIRE(gpu.gpu.error() == Status::ok);
}

TEST_CASE("a packet that waits for its own queue, for none, or for what is not announced is refused") {
  TwoQueues gpu;
  gpu.run(0, gemm_of(gpu, 4).packet);
  EncodedPacket with_kernel = wait_for(0, 1), releasing = wait_for(0, 1);
  with_kernel.header.kernel = 1;
  releasing.header.flags |= T3_KERNEL_PACKET_FLAGS_RELEASE;
  const std::pair<EncodedPacket, const char*> wrong[] = {
      {wait_for(1, 1), "a packet of queue 1 waits for queue 1: another one below 16 expected"},
      {wait_for(16, 1), "a packet of queue 1 waits for queue 16: another one below 16 expected"},
      {wait_for(0, 2), "a packet waits for packet 2 of queue 0: one that has been announced, 1 to 1, expected"},
      {with_kernel, "kernel 0x00000001, argument_bytes 0 of a packet that waits: 0 of both expected"},
      {releasing, "flags 0x6: release of a packet that waits, which has no kernel: none expected"}};
  for (const auto& [packet, text] : wrong) {
    start_wait(gpu, packet);
    gpu.finish();
    CHECK(gpu.second_code() == Status::bad_packet);
    CHECK_THAT(gpu.last_report(), Catch::Equals(text));
  }
}

}  // namespace t3vp::test::waiting_packet_test
