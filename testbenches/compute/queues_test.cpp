// Kernels of several queues at once: what they share, and what is each one's own.
#include "bad_operands.h"
#include "two_queues.h"

namespace t3vp::test::queues_test {

using namespace compute;

namespace {

/// Rows that are written where no GEMM of these tests reads or writes.
RowsPacket rows_of(std::uint32_t rows) {
  RowsPacket packet = good_rows();
  packet.m = rows;
  packet.out = 0x1A0000;
  return packet;
}

/// A ring kernel of a workgroup for each compute unit whose neighbour has signalled.
RingPacket ring_of(TwoQueues& gpu, std::uint64_t epoch) {
  const RingCase ring{{64, 48, 32, 32, 1, 96, ElementType::fp16}, 2, 3};
  for (std::size_t i = 0; i < 3; ++i) gpu.bench.memory.add_signal(0, RingCase::signal_base + i, 1);
  RingPacket packet = ring.packet(handle::ring_all_gather, 0, 0, epoch);
  packet.out = 0x1C0000;
  return packet;
}

}  // namespace

TEST_CASE("kernels of two queues on compute units of their own take as long as alone") {
  TwoQueues gpu;
  gpu.mask(0, 0b011);
  gpu.mask(1, 0b100);
  const EncodedPacket first = gemm_of(gpu, 16).packet, second = gemm_of(gpu, 8, true).packet;
  const std::pair<Picoseconds, Picoseconds> alone{gpu.run(0, first), gpu.run(1, second)};
  REQUIRE(gpu.run(first, second) == alone);
  REQUIRE(gpu.gpu.completed() == 2);
  REQUIRE(gpu.get("completed", 1) == 2);
  REQUIRE(gpu.second_code() == Status::ok);
}

TEST_CASE("a mask keeps a kernel to as many compute units as it has and a packet to the first of those") {
  TwoQueues gpu;
  GemmPacket gemm = gemm_of(gpu, 12).packet;
  gemm.header.max_compute_units = 1;
  const Picoseconds on_one = gpu.run(0, gemm);
  gpu.mask(0, 0b110);
  gpu.mask(1, 0b100);
  REQUIRE(gpu.run(gemm, gemm_of(gpu, 12, true).packet) == std::pair(on_one, on_one));
  gemm.header.max_compute_units = 0;
  gpu.mask(0, 0b010);
  REQUIRE(gpu.run(gemm, gemm_of(gpu, 12, true).packet) == std::pair(on_one, on_one));
  gpu.mask(0, 0b011);
  const Picoseconds on_two = gpu.run(0, gemm);
  REQUIRE((on_two > on_one / 2 && on_two < on_one * 3 / 4));
}

TEST_CASE("a packet of a queue whose mask has no compute unit is refused") {
  TwoQueues gpu;
  gpu.mask(1, ~0b111ull);  // there are three
  gpu.run(1, gemm_of(gpu, 8).packet);
  REQUIRE(gpu.second_code() == Status::bad_packet);
  CHECK_THAT(gpu.last_report(), Catch::Equals("cu_mask of queue 1: one of the 3 compute units at least expected"));
  gpu.mask(1, 0b100);
  gpu.run(1, gemm_of(gpu, 8).packet);
  REQUIRE(gpu.second_code() == Status::ok);
}

TEST_CASE("kernels of two queues share compute units and both are right") {
  TwoQueues gpu;
  std::mt19937 random(23);
  GemmCase one = gemm_of(gpu, 9), other = gemm_of(gpu, 9, true);
  one.fill(gpu.bench.memory, random, 1);
  other.fill(gpu.bench.memory, random, 1);
  const Picoseconds alone = gpu.run(0, one.packet);
  std::memset(gpu.bench.memory.at(one.packet.out), 0, 32 * 9 * 64);
  const auto [first, second] = gpu.run(one.packet, other.packet);
  REQUIRE(one.result(gpu.bench.memory) == one.expected());
  REQUIRE(other.result(gpu.bench.memory) == other.expected());
  REQUIRE((std::max(first, second) > alone * 5 / 4 && std::max(first, second) < 2 * alone));
}

TEST_CASE("queues of one priority take turns, and the highest priority goes first") {
  TwoQueues gpu;
  const EncodedPacket one = gemm_of(gpu, 30).packet, other = gemm_of(gpu, 30, true).packet;
  const Picoseconds alone = gpu.run(0, one);
  const auto [first, second] = gpu.run(one, other);
  REQUIRE((first > alone * 5 / 4 && second > alone * 5 / 4));
  for (const std::uint32_t favoured : {0u, 1u}) {
    gpu.set("priority", favoured, 7);
    gpu.set("priority", 1 - favoured, 6);
    const auto [with_7, with_6] = favoured == 0 ? gpu.run(one, other) : [&] {
      const auto both = gpu.run(one, other);
      return std::pair(both.second, both.first);
    }();
    CAPTURE(favoured);
    REQUIRE(with_7 < alone * 6 / 5);
    REQUIRE(with_6 > alone * 3 / 2);
  }
}

TEST_CASE("an abort of one queue leaves the kernel of the other alone and later packets run") {
  TwoQueues gpu;
  gpu.start(0, gemm_of(gpu, 30).packet);
  gpu.start(1, gemm_of(gpu, 30, true).packet);
  gpu.launch();
  gpu.set("command", 1, 1);
  gpu.finish();
  REQUIRE(gpu.gpu.error() == Status::ok);
  REQUIRE(gpu.second_code() == Status::aborted);
  const std::uint64_t before = gpu.gpu.cluster.finished_workgroups();
  REQUIRE((before >= 30 && before < 60));
  gpu.run(1, gemm_of(gpu, 6, true).packet);
  REQUIRE(gpu.second_code() == Status::ok);
  REQUIRE(gpu.gpu.cluster.finished_workgroups() == before + 6);
}

TEST_CASE("waits are withdrawn of the queue that is aborted") {
  TwoQueues gpu;
  RingPacket packet = ring_of(gpu, 5);  // the signals that have come are of step 1
  gpu.start(1, packet);
  while (TwoQueues::step()) continue;
  REQUIRE(gpu.bench.memory.waiting() == 3);
  REQUIRE(gpu.gpu.withdraw.read() == 0);
  gpu.set("command", 0, 1);
  gpu.bench.wait(1);
  REQUIRE(gpu.gpu.withdraw.read() == 0);
  gpu.set("command", 1, 1);
  gpu.bench.wait(1);
  REQUIRE(gpu.gpu.withdraw.read() == 0b10);
  gpu.bench.memory.withdraw_waits();
  gpu.finish();
  gpu.bench.wait(1);
  REQUIRE(gpu.gpu.withdraw.read() == 0);
}

TEST_CASE("a failure is that of its queue alone") {
  TwoQueues gpu;
  GemmPacket wrong = gemm_of(gpu, 8).packet;
  wrong.header.kernel = 1;
  gpu.bench.memory.judge = [](const LoggedAccess& access) {
    const bool is_read_of_second = access.address >= 0xD0000 && access.address < 0x110000;
    return is_read_of_second ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  gpu.run(gemm_of(gpu, 8).packet, gemm_of(gpu, 8, true).packet);
  REQUIRE(gpu.gpu.error() == Status::ok);
  REQUIRE(gpu.second_code() == Status::bad_address);
  gpu.run(gemm_of(gpu, 8).packet, wrong);
  REQUIRE(gpu.second_code() == Status::bad_packet);
  REQUIRE(((gpu.get("interrupt", 0) & 3) == 1 && (gpu.get("interrupt", 1) & 3) == 3));
  REQUIRE((gpu.get("failed_packet", 0) == 0 && gpu.get("failed_packet", 1) == 1));
  REQUIRE(gpu.get("status", 1) >> 8 == static_cast<std::uint64_t>(Status::bad_address));
  REQUIRE(gpu.get("status", 0) == 0);
  gpu.set("interrupt", 1, 3);
  gpu.bench.wait(1);
  REQUIRE(gpu.gpu.interrupt.read());
  REQUIRE((gpu.get("failed_packet", 1) == 0 && gpu.get("status", 1) == 0));
  gpu.set("interrupt", 0, 1);
  gpu.bench.wait(1);
  REQUIRE(!gpu.gpu.interrupt.read());
}

TEST_CASE("a kernel of one queue writes nothing that a kernel of another queue reads or writes, nor its packets") {
  TwoQueues gpu;
  const GemmPacket running = gemm_of(gpu, 8).packet;
  const auto judged = [&](const GemmPacket& packet) {
    gpu.start(0, running);
    gpu.launch();
    gpu.start(1, packet);
    gpu.finish();
    return gpu.second_code();
  };
  GemmPacket packet = gemm_of(gpu, 8, true).packet;
  packet.a = running.a, packet.b = running.b;
  REQUIRE(judged(packet) == Status::ok);  // they may read the same
  packet.out = running.out;
  REQUIRE(judged(packet) == Status::busy);
  CHECK_THAT(gpu.last_report(), Catch::StartsWith("the kernel writes 0x90000 to ") &&
                                    Catch::Contains(": queue 0 runs a kernel that writes 0x90000 to ") &&
                                    Catch::EndsWith(", and no kernel runs there before that has ended"));
  packet = gemm_of(gpu, 8, true).packet;
  packet.a = running.out;
  REQUIRE(judged(packet) == Status::busy);
  CHECK_THAT(gpu.last_report(), Catch::Contains("the kernel reads 0x90000 to ") &&
                                    Catch::Contains(": queue 0 runs a kernel that writes 0x90000 to "));
  packet = gemm_of(gpu, 8, true).packet;
  packet.out = running.b;
  REQUIRE(judged(packet) == Status::busy);
  CHECK_THAT(gpu.last_report(), Catch::Contains(": queue 0 runs a kernel that reads 0x50000 to "));
  packet.out = 0x1FC000;
  REQUIRE(judged(packet) == Status::busy);
  CHECK_THAT(gpu.last_report(), Catch::Contains(": queue 0 reads its packets from 0x1ffe00 to 0x1fffff"));
}

TEST_CASE("kernels of two queues are not ordered by chance") {
  TwoQueues gpu;
  const GemmPacket writer = gemm_of(gpu, 1).packet;
  GemmPacket reader = gemm_of(gpu, 1).packet;
  reader.a = writer.out, reader.b = 0x110000, reader.out = 0x1A0000;
  gpu.start(1, gemm_of(gpu, 30, true).packet);
  gpu.start(1, reader);  // announced before the writer has ended, which it does first
  gpu.start(0, writer);
  gpu.finish();
  CHECK(gpu.gpu.error() == Status::ok);
  REQUIRE(gpu.second_code() == Status::busy);
  CHECK_THAT(gpu.last_report(), Catch::StartsWith("the kernel reads 0x90000 to ") &&
                                    Catch::Contains(": queue 0 has run kernel gemm, which wrote there and ended at ") &&
                                    Catch::EndsWith(": one of them announced behind the other's end expected"));
  gpu.start(1, gemm_of(gpu, 30, true).packet);
  gpu.start(0, writer);
  while (gpu.busy(0)) REQUIRE(TwoQueues::step());
  gpu.start(1, reader);  // behind the writer's end
  gpu.finish();
  REQUIRE(gpu.second_code() == Status::ok);
  gpu.start(1, gemm_of(gpu, 30, true).packet);
  gpu.start(1, writer);
  gpu.start(0, reader);  // the other way round: what it has read is written behind it
  gpu.finish();
  REQUIRE(gpu.second_code() == Status::busy);
  CHECK_THAT(gpu.last_report(), Catch::Contains(": queue 0 has run kernel gemm, which read there and ended at "));
  gpu.start(1, gemm_of(gpu, 30, true).packet);
  gpu.start(1, reader);
  reader.out = 0x1B0000;
  gpu.start(0, reader);  // they may read the same
  gpu.finish();
  REQUIRE(gpu.second_code() == Status::ok);
}

TEST_CASE("a ring of packets is not another queue's, nor where its kernel writes") {
  TwoQueues gpu;
  gpu.run(0, gemm_of(gpu, 8).packet);
  const auto rings = [&](std::uint64_t base) {
    gpu.set("base", 1, base);
    return gpu.gpu.registers.set("doorbell", 1, 1);
  };
  REQUIRE(rings(ClusterUnderTest::queue_base - 128) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(gpu.gpu.registers.take_report() == Status::busy);
  gpu.start(0, gemm_of(gpu, 30).packet);
  gpu.launch();
  REQUIRE(rings(GemmCase::out_base) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(gpu.gpu.registers.take_report() == Status::busy);
  gpu.set("base", 1, TwoQueues::second_base);
  gpu.start(1, gemm_of(gpu, 8, true).packet);
  gpu.finish();
  REQUIRE(gpu.second_code() == Status::ok);
}

TEST_CASE("workgroups that wait for each other start when all fit and a higher priority makes room for them") {
  TwoQueues gpu;
  std::uint64_t epoch = 0;
  for (const std::uint64_t priority : {0u, 1u}) {
    gpu.set("priority", 1, priority);
    const std::uint64_t before = gpu.gpu.cluster.finished_workgroups();
    std::uint64_t finished_at_start = 0;
    gpu.bench.memory.observe = [&](const LoggedAccess& access) {
      const bool is_rings = access.address >= 0x1C0000 && access.address < 0x1D0000;
      if (is_rings && finished_at_start == 0) finished_at_start = gpu.gpu.cluster.finished_workgroups() - before;
    };
    gpu.start(0, gemm_of(gpu, 30).packet);
    gpu.launch();
    gpu.start(1, ring_of(gpu, epoch++));
    gpu.launch();
    if (priority == 0)
      CHECK_THAT(gpu.gpu.cluster.diagnosis().at(1),
                 Catch::Contains("queue 1: kernel 1 of 1 is not finished: 0 workgroups have started, 0 are done, there "
                                 "is no room for them beside other kernels"));
    gpu.finish();
    REQUIRE(gpu.second_code() == Status::ok);
    CAPTURE(priority, finished_at_start);
    REQUIRE((priority == 0 ? finished_at_start >= 27 : finished_at_start > 0 && finished_at_start < 24));
  }
}

TEST_CASE("the first stage is the producer's, whatever runs beside it") {
  TwoQueues gpu;
  gpu.start(1, rows_of(64));
  gpu.start(0, GemmCase(gpu.bench.parameters, 128, 32, 512, ElementType::fp16).packet);
  std::uint64_t stored = 0, others_done = 0;
  gpu.bench.memory.observe = [&](const LoggedAccess& access) {
    if (access.operation == Operation::store && access.address >= GemmCase::out_base && access.address < 0xD0000)
      ++stored;
  };
  bool was_first = false, is_over = false;
  while (gpu.busy(0)) {
    REQUIRE(TwoQueues::step());
    const bool is_first = gpu.gpu.first_stage.read();
    if (is_first && !gpu.busy(1)) ++others_done;
    if (was_first && !is_first && !is_over) {
      is_over = true;
      CHECK(stored > 0);
    }
    was_first = is_first;
  }
  CHECK(others_done > 0);
  CHECK(is_over);
}

TEST_CASE("a kernel that is no producer is not observed, also when it runs on after one") {
  TwoQueues gpu;
  gpu.mask(1, 0b100);
  const auto was_active_until = [&](std::uint32_t queue) {
    bool was_active = false;
    while (gpu.busy(queue)) {
      REQUIRE(TwoQueues::step());
      was_active = was_active || gpu.gpu.kernel_active.read();
    }
    gpu.bench.wait(1);
    return was_active;
  };
  gpu.start(1, rows_of(1024));
  REQUIRE(!was_active_until(1));
  gpu.start(1, rows_of(1024));
  gpu.start(0, gemm_of(gpu, 1).packet);
  REQUIRE(was_active_until(0));
  REQUIRE(gpu.busy(1));
  REQUIRE(!gpu.gpu.kernel_active.read());
}

TEST_CASE("priority and mask of a queue change while it has no packets") {
  TwoQueues gpu;
  gpu.start(1, gemm_of(gpu, 8).packet);
  for (const auto& [name, element] : {std::pair{"priority", 1u}, {"cu_mask", TwoQueues::words}}) {
    REQUIRE(gpu.gpu.registers.set(name, 3, element) == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(gpu.gpu.registers.take_report() == Status::busy);
    gpu.set(name, 0, 3);
  }
  gpu.finish();
  gpu.set("priority", 1, 3);
  gpu.mask(1, 3);
}

TEST_CASE("a reset empties all queues") {
  TwoQueues gpu;
  gpu.mask(1, 0b001);
  gpu.start(0, gemm_of(gpu, 30).packet);
  gpu.start(1, gemm_of(gpu, 30, true).packet);
  gpu.launch();
  gpu.gpu.cluster.registers.reset();
  REQUIRE((!gpu.busy(0) && !gpu.busy(1)));
  REQUIRE(gpu.gpu.cluster.diagnosis().empty());
  gpu.gpu.submitted = 0;
  gpu.gpu.start_queue();
  gpu.start_second_queue();
  const Picoseconds duration = gpu.run(1, gemm_of(gpu, 12, true).packet);
  REQUIRE(gpu.run(0, gemm_of(gpu, 12).packet) == duration);  // the mask is that of a reset
  REQUIRE(gpu.second_code() == Status::ok);
}

}  // namespace t3vp::test::queues_test
