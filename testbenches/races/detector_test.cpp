// The detector is told the order as the blocks tell it.
#include <catch2/catch.hpp>

#include "protocol/address_map.h"
#include "races/race_detector.h"

namespace t3vp::test::detector_test {

using races::RaceDetector;

namespace {

constexpr std::uint64_t data = 0x10000, flag = 0x20000;
constexpr std::uint64_t on_1 = address_map::on_gpu(1, data);

struct Bench {
  RaceDetector detector{2};
  Picoseconds time = 0;

  RaceDetector::Request request(OrderPoint by, Operation operation, std::uint64_t address, std::uint32_t bytes,
                                bool real = false) {
    time += 1000;
    return {by, operation, ElementType::fp16, real, address, {1, bytes, 0}, time};
  }
  void load(OrderPoint by, std::uint64_t address = data) {
    detector.requested(request(by, Operation::load, address, 64));
  }
  void store(OrderPoint by, std::uint64_t address = data) {
    detector.requested(request(by, Operation::store, address, 64));
  }
  void update(OrderPoint by, std::uint64_t address = data) {
    detector.requested(request(by, Operation::update, address, 64));
  }
  void write_flag(OrderPoint by) { detector.requested(request(by, Operation::store, flag, 8, true)); }
  void poll(OrderPoint by) {
    const auto read = request(by, Operation::load, flag, 8, true);
    detector.requested(read);
    detector.responded(read);
  }
  std::uint32_t kernel(std::uint32_t waves, OrderPoint behind = 0, std::uint16_t gpu = 0) {
    return detector.begin_waves(gpu, "gemm", 1, waves, behind);
  }
  OrderPoint at(std::uint32_t wave) { return detector.point_of_wave(wave); }
  std::uint64_t found() const { return detector.found().count(); }
  OrderPoint program(std::uint16_t gpu = 0) { return detector.point_of(gpu, OrderObserver::program); }
};

}  // namespace

TEST_CASE("two waves that nothing orders race unless both load, or both update", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(2);
  b.load(b.at(waves));
  b.load(b.at(waves + 1));
  b.update(b.at(waves), on_1);
  b.update(b.at(waves + 1), on_1);
  CHECK(b.found() == 0);
  b.store(b.at(waves + 1));
  REQUIRE(b.found() == 1);
  CHECK(
      b.detector.found().list().front().text() ==
      "workgroup 1, wave 0 of kernel gemm on GPU 0: access that nothing orders with an earlier one: store of 64 bytes "
      "with 0x10000 at 5.000 ns, and before it the load by workgroup 0, wave 0 of kernel gemm on GPU 0 at 1.000 ns");
  b.load(b.at(waves), on_1);
  CHECK(b.found() == 2);
}

TEST_CASE("a race of the same kernels by the same operations is reported once, on whichever GPUs and waves it is",
          "[detector]") {
  Bench b;
  for (const std::uint16_t gpu : {std::uint16_t{0}, std::uint16_t{1}}) {
    const std::uint32_t waves = b.kernel(3, 0, gpu);
    for (std::uint32_t i = 0; i < 3; ++i) b.store(b.at(waves + i), address_map::on_gpu(gpu, data));
  }
  CHECK(b.found() == 1);
  const std::uint32_t other = b.detector.begin_waves(0, "copy", 1, 1, 0);
  b.store(b.at(other));
  CHECK(b.found() == 2);
}

TEST_CASE("a barrier orders the waves of a workgroup", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(3);
  b.store(b.at(waves));
  b.detector.meet(waves, 2);
  b.load(b.at(waves + 1));
  CHECK(b.found() == 0);
  b.load(b.at(waves + 2));
  CHECK(b.found() == 1);
}

TEST_CASE("a kernel's end orders all of its waves with who is behind it", "[detector]") {
  Bench b;
  const std::uint32_t first = b.kernel(3);
  b.store(b.at(first + 2));
  const OrderPoint end = b.detector.end_waves(first, 3);
  b.load(b.at(b.kernel(1, end)));
  CHECK(b.found() == 0);
  b.load(b.at(b.kernel(1)));
  CHECK(b.found() == 1);
}

TEST_CASE("who has polled a flag is behind its writer up to the flag, and not beyond", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(2);
  b.store(b.at(waves));
  b.write_flag(b.at(waves));
  b.poll(b.at(waves + 1));
  b.load(b.at(waves + 1));
  CHECK(b.found() == 0);
  b.store(b.at(waves), data + 64);
  b.load(b.at(waves + 1), data + 64);
  CHECK(b.found() == 1);
}

TEST_CASE("a wait is behind what its counter shows", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(2);
  b.store(b.at(waves));
  auto wait = b.request(b.at(waves + 1), Operation::wait, data, 8);
  wait.order = b.detector.join(wait.order, b.at(waves));  // as the block of the counters does
  b.detector.responded(wait);
  b.load(b.at(waves + 1));
  CHECK(b.found() == 0);
}

TEST_CASE("a transfer is behind what it was given, and not behind the transfers before it", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(2);
  b.update(b.at(waves));
  b.update(b.at(waves + 1), data + 64);
  const OrderPoint first = b.detector.begin_transfer(0, OrderObserver::dma, b.at(waves + 1));
  b.load(first, data + 64);
  CHECK(b.found() == 0);
  const OrderPoint second = b.detector.begin_transfer(0, OrderObserver::dma, b.at(waves + 1));
  b.load(second);
  CHECK(b.found() == 1);
}

TEST_CASE("a program is behind what a register shows that it reads", "[detector]") {
  const std::uint64_t dma = address_map::on_gpu(0, address_map::block_base(address_map::Block::dma)),
                      interrupts =
                          address_map::on_gpu(0, address_map::block_base(address_map::Block::interrupt_controller));
  for (const std::uint64_t read : {dma, dma + 0x40, interrupts, interrupts + 8, std::uint64_t{0}}) {
    Bench b;
    const OrderPoint transfer = b.detector.begin_transfer(0, OrderObserver::dma, 0);
    b.store(transfer);
    b.detector.show(dma, transfer);
    if (read != 0) b.detector.host_reads(0, read, 4, 0);
    b.detector.host_reads(0, data, 64, 1'000'000);
    CHECK(b.found() == (read == 0 ? 1u : 0u));
  }
}

TEST_CASE("a program's short reads are polls, longer ones are not unless a flag is there", "[detector]") {
  Bench b;
  const std::uint32_t wave = b.kernel(1);
  b.store(b.at(wave));
  b.detector.host_reads(0, data, 64, 0);
  CHECK(b.found() == 1);
  b.store(b.at(wave), data + 256);
  b.write_flag(b.at(wave));
  b.detector.host_reads(0, flag, 64, 0);
  b.detector.host_reads(0, data + 256, 64, 0);
  CHECK(b.found() == 1);
}

TEST_CASE("a kernel is behind what its program has written before the doorbell, and not behind it", "[detector]") {
  Bench b;
  b.detector.host_writes(0, data, 64, 0);
  const OrderPoint doorbell = b.program();
  b.detector.host_has_written_register(0);
  b.detector.host_writes(0, data + 64, 64, 0);
  const std::uint32_t wave = b.kernel(1, doorbell);
  b.load(b.at(wave));
  CHECK(b.found() == 0);
  b.load(b.at(wave), data + 64);
  CHECK(b.found() == 1);
}

TEST_CASE("what programs exchange orders them", "[detector]") {
  Bench b;
  b.detector.host_writes(0, data, 64, 0);
  b.detector.exchange(0);
  b.detector.exchange(1);
  b.detector.host_reads(1, data, 64, 0);
  CHECK(b.found() == 0);
  b.detector.host_writes(0, data, 64, 0);
  CHECK(b.found() == 1);
}

TEST_CASE("fetch-and-adds do not race, and who reads the sum is behind all of them", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(3);
  for (std::uint32_t i = 0; i < 2; ++i) {
    b.store(b.at(waves + i), data + 64 * i);
    b.detector.requested(b.request(b.at(waves + i), Operation::fetch_add, flag, 8));
  }
  b.poll(b.at(waves + 2));
  b.load(b.at(waves + 2));
  b.load(b.at(waves + 2), data + 64);
  CHECK(b.found() == 0);
}

TEST_CASE("a store to all GPUs is one to each", "[detector]") {
  for (const std::uint64_t gpu : {0u, 1u}) {
    Bench b;
    const std::uint32_t waves = b.kernel(2);
    b.store(b.at(waves), address_map::on_gpu(address_map::all_gpus, data));
    b.load(b.at(waves + 1), address_map::on_gpu(gpu, data));
    CHECK(b.found() == 1);
  }
}

TEST_CASE("memory that has another owner, and accesses of nobody, are as new", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(2);
  b.store(b.at(waves));
  b.detector.forget(data, 64);
  b.load(b.at(waves + 1));
  b.store(0);
  CHECK(b.found() == 0);
}

TEST_CASE("only the bytes count that both have, row by row", "[detector]") {
  Bench b;
  const std::uint32_t waves = b.kernel(2);
  auto rows = b.request(b.at(waves), Operation::store, data, 0);
  rows.shape = {4, 16, 64};
  b.detector.requested(rows);
  rows.order = b.at(waves + 1);
  rows.address = data + 16;
  b.detector.requested(rows);
  CHECK(b.found() == 0);
  rows.address = data + 8;
  b.detector.requested(rows);
  CHECK(b.found() == 1);
}

}  // namespace t3vp::test::detector_test
