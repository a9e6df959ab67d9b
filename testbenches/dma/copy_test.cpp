// Copies that software queues: what arrives where, what follows it, and what is refused.
#include "dma/dma_bench.h"

namespace t3vp::test::copy_test {

using namespace dma;

namespace {

constexpr std::uint64_t from = address_map::on_gpu(bench_gpu, 0x3020), to = address_map::on_gpu(peer_gpu, 0x8040),
                        flag = address_map::on_gpu(peer_gpu, 0x100003);

struct CopyBench : DmaBench {
  using DmaBench::DmaBench;

  Status copy(std::uint64_t target, std::uint64_t source, std::uint64_t bytes, std::uint64_t flag_address = 0,
              std::uint64_t queue = 0, std::uint64_t width = 0) {
    registers.set("copy_from", source);
    registers.set("copy_to", target);
    registers.set("copy_bytes", bytes);
    registers.set("copy_flag", flag_address);
    registers.set("copy_flag_value", 0x55);
    registers.set("copy_options", queue | width << 8);
    registers.set("command", 7 | classes());
    return registers.command_status();
  }
  std::uint64_t ended() { return registers["copies_ended"]; }
};

}  // namespace

TEST_CASE("a copy sends exactly its bytes to the peer, and its flag when the peer has answered for all of them") {
  CopyBench bench;
  const std::uint64_t bytes = 3 * 4096 + 100;
  REQUIRE(bench.copy(to, from, bytes, flag) == Status::ok);
  REQUIRE(bench.busy());
  bench.settle();
  std::uint64_t next = 0;
  const std::vector<DataTarget::Arrival>& arrivals = bench.link.arrivals();
  REQUIRE(arrivals.size() == 5);
  for (std::size_t i = 0; i + 1 < arrivals.size(); ++i) {
    const DataTarget::Arrival& piece = arrivals[i];
    REQUIRE(piece.address == to + next);
    REQUIRE(piece.extension.operation == Operation::store);
    REQUIRE(piece.extension.traffic == bench.writes);
    for (std::size_t byte = 0; byte < piece.data.size(); ++byte)
      REQUIRE(piece.data[byte] == DmaBench::content(from + next + byte));
    next += piece.extension.shape.bytes();
  }
  REQUIRE(next == bytes);
  REQUIRE(arrivals.back().address == flag);
  REQUIRE(arrivals.back().extension.real);
  REQUIRE(arrivals.back().data == std::vector<unsigned char>{0x55});
  REQUIRE(bench.registers["copies_added"] == 1);
  REQUIRE(bench.ended() == 1);
  REQUIRE(bench.registers["bytes"] == bytes);
  REQUIRE(bench.registers["interrupt"] == 8);
  REQUIRE(bench.interrupt.read());
  REQUIRE_FALSE(bench.busy());
}

TEST_CASE("a copy within the GPU goes to its memory, and a flag has 1, 2, 4 or 8 bytes") {
  CopyBench bench;
  const std::uint64_t here = address_map::on_gpu(bench_gpu, 0x20000), own_flag = here + 0x1000;
  for (const std::uint64_t width : {0u, 1u, 2u, 3u}) {
    REQUIRE(bench.copy(here, from, 64, own_flag, 0, width) == Status::ok);
    bench.settle();
    REQUIRE(bench.link.arrivals().empty());
    REQUIRE(bench.memory.arrivals().back().address == own_flag);
    REQUIRE(bench.memory.arrivals().back().data.size() == std::size_t{1} << width);
    REQUIRE(bench.ended() == width + 1);
  }
}

TEST_CASE("a queue does one copy after the other, and queues work at once") {
  CopyBench bench;
  for (const std::uint64_t queue : {0u, 0u, 1u}) REQUIRE(bench.copy(to, from, 4096, 0, queue) == Status::ok);
  bench.settle();
  const auto& reads = bench.memory.arrivals();
  REQUIRE(reads.size() == 3);
  REQUIRE(reads[1].at == reads[0].at);
  REQUIRE(reads[2].at > reads[1].at + bench.memory.latency);
  REQUIRE(bench.ended() == 3);
}

TEST_CASE("a copy keeps no more bytes under way than its queue can buffer") {
  DmaParameters parameters;
  parameters.copy_bytes_in_flight = 10'000;
  CopyBench bench(parameters);
  REQUIRE(bench.copy(to, from, 1 << 18) == Status::ok);
  bench.settle();
  REQUIRE(bench.memory.most_bytes_held() <= 10'000);
  REQUIRE(bench.memory.most_bytes_held() >= 8192);
  REQUIRE(bench.ended() == 1);
}

TEST_CASE("a copy that cannot be is refused") {
  DmaParameters parameters;
  parameters.copy_queues = 2;
  parameters.copies = 1;
  CopyBench bench(parameters);
  const auto refused = [&](Status code, std::uint64_t target, std::uint64_t source, std::uint64_t bytes,
                           std::uint64_t flag_address = 0, std::uint64_t queue = 0, std::uint64_t width = 0) {
    CAPTURE(target, source, bytes, flag_address, queue, width);
    REQUIRE(bench.copy(target, source, bytes, flag_address, queue, width) == code);
    REQUIRE(bench.registers.take_report() == code);
    REQUIRE_FALSE(bench.busy());
  };
  const std::uint64_t end = address_map::on_gpu(bench_gpu, address_map::hbm_limit);
  refused(Status::unaligned, to + 16, from, 64);
  refused(Status::unaligned, to, from + 16, 64);
  refused(Status::unaligned, to, from, 66);
  refused(Status::unaligned, to, from, 64, flag, 0, 2);
  refused(Status::invalid_argument, to, from, 0);
  refused(Status::invalid_argument, to, from, 64, 0, 2);
  refused(Status::bad_address, to, to, 64);
  refused(Status::bad_address, to, end - 32, 64);
  refused(Status::bad_address, address_map::on_gpu(peer_gpu, address_map::hbm_limit), from, 64);
  refused(Status::no_peer, address_map::on_gpu(lost_gpu, 0x8000), from, 64);
  refused(Status::no_peer, to, from, 64, address_map::on_gpu(lost_gpu, 0x8000));
  refused(Status::overlap, from + 32, from, 64);
  REQUIRE(bench.copy(to, from, 64) == Status::ok);
  REQUIRE(bench.copy(to, from, 64) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  bench.settle();
  REQUIRE(bench.copy(to, from, 64) == Status::ok);
}

namespace {

tlm::tlm_response_status refuse(tlm::tlm_generic_payload&) { return tlm::TLM_ADDRESS_ERROR_RESPONSE; }

void require_failed(CopyBench& bench) {
  REQUIRE(bench.copy(to, from, 1 << 20, flag) == Status::ok);
  bench.settle();
  for (const DataTarget::Arrival& arrival : bench.link.arrivals()) REQUIRE(arrival.address != flag);
  REQUIRE((bench.registers["status"] >> 16 & 0xFF) == static_cast<std::uint64_t>(Status::bad_address));
  REQUIRE(bench.registers["interrupt"] == 12);
  REQUIRE(bench.ended() == 1);
  REQUIRE_FALSE(bench.busy());
}

}  // namespace

TEST_CASE("a copy that the peer refuses stops without its flag") {
  CopyBench bench;
  bench.link.serve = refuse;
  require_failed(bench);
}

TEST_CASE("a copy that cannot be read stops without its flag") {
  CopyBench bench;
  bench.memory.serve = refuse;
  require_failed(bench);
}

TEST_CASE("a reset ends copies, and what comes back later belongs to none") {
  CopyBench bench;
  REQUIRE(bench.copy(to, from, 1 << 16, flag) == Status::ok);
  DmaBench::run_for(400'000);
  bench.engine.registers.reset();
  REQUIRE_FALSE(bench.busy());
  REQUIRE(bench.registers["copies_added"] == 0);
  REQUIRE(bench.copy(to, from, 64) == Status::ok);
  bench.settle();
  REQUIRE(bench.ended() == 1);
}

TEST_CASE("the latency before the first access of a copy or a fill is the engine's part of the time") {
  CopyBench bench;
  Cause first;
  bench.memory.serve = [&](tlm::tlm_generic_payload& access) {
    if (!first.is_known()) first = Cause::current();
    return DmaBench::serve(access);
  };
  for (const bool copies : {true, false}) {
    CAPTURE(copies);
    first = Cause();
    const Picoseconds begin = now();
    const std::uint32_t window = Cause::open_window(begin);
    Cause::current() = Cause::begin();
    Cause::current().extend(begin, Part::launch);
    REQUIRE((copies ? bench.copy(to, from, 4096) : bench.fill(from, 4096)) == Status::ok);
    bench.settle();
    REQUIRE(first.time() == begin + bench.parameters.latency);
    CHECK(of(first.within(window, first.time()), Part::dma) == bench.parameters.latency);
  }
  Cause::current() = Cause();
}

}  // namespace t3vp::test::copy_test
