// Wrong programs: what the engine refuses, what it finds out later, and a reset.
#include "endpoint/ring_bench.h"

namespace t3vp::test::endpoint_programs_test {

using namespace endpoint;

TEST_CASE("a collective that cannot be is refused with one error, which says what was expected") {
  RingBench bench(3);
  NamedRegisters& r = bench.of[1]->registers;
  const auto refused = [&](Status status, const std::string& text) {
    CAPTURE(text);
    const std::size_t before = r.reported.size();
    CHECK(bench.command(1) == status);
    REQUIRE(r.reported.size() == before + 1);
    CHECK_THAT(r.reported.back().text, Catch::Contains(text));
    CHECK(r["started"] == 0);
  };
  const auto stage = [&] {
    bench.of[1]->engine.registers.reset();
    r.set("buffer", address_map::on_gpu(1, 0x400));
    r.set("bytes", 4096);
    r.set("place", 1 | 3 << 16);
    r.set("neighbours", 2);
    r.set("options", 2);
  };
  struct Wrong {
    const char* name;
    std::uint64_t value;
    Status status;
    const char* text;
  };
  const std::vector<Wrong> all{
      {"buffer", address_map::on_gpu(1, 0x410), Status::unaligned, "multiples of 32 expected"},
      {"bytes", 100, Status::unaligned, "multiples of 32 expected"},
      {"bytes", 0, Status::invalid_argument, "32 or more expected"},
      {"bytes", 0x10000, Status::bad_address, "not all in the memory of GPU 1"},
      {"buffer", 0x400, Status::bad_address, "with the GPU's number"},
      {"place", 3 | 3 << 16, Status::invalid_argument, "place 3 of 3 GPUs"},
      {"place", 0 | 1 << 16, Status::invalid_argument, "place 0 of 1 GPUs: 2 GPUs or more"},
      {"neighbours", 1, Status::no_peer, "neighbour 1: another GPU"},
      {"neighbours", 7 << 16 | 2, Status::no_peer, "neighbour 7"},
      {"options", 2 | 2 << 8, Status::invalid_argument, "ring 2: 0 to 1 expected"},
  };
  for (const Wrong& wrong : all) {
    stage();
    CAPTURE(wrong.name, wrong.value);
    REQUIRE(r.set(wrong.name, wrong.value) == tlm::TLM_OK_RESPONSE);
    refused(wrong.status, wrong.text);
  }
}

TEST_CASE("a ring takes as many collectives as it holds, and none whose bytes another one uses") {
  EndpointParameters p = RingBench::small();
  p.collectives = 2;
  RingBench bench(2, p);
  Staged staged;
  REQUIRE(bench.start(0, staged) == Status::ok);
  staged.address += 4064;
  CHECK(bench.start(0, staged) == Status::overlap);
  staged.address += 32;
  CHECK(bench.start(0, staged) == Status::ok);
  staged.address += 4096;
  CHECK(bench.start(0, staged) == Status::busy);
  staged.ring = 1;
  CHECK(bench.start(0, staged) == Status::ok);
  CHECK(bench.of[0]->registers["started"] == 3);
}

TEST_CASE("GPUs that start different collectives all find out, and nobody waits for ever") {
  Staged right;
  right.bytes = 8192;
  Staged larger = right, shorter = right, of_others = right;
  larger.bytes += 1024;
  shorter.operation = RingOperation::reduce_scatter;
  of_others.element = ElementType::bf16;
  RingBench bench(4);
  for (const Staged& other : {larger, shorter, of_others}) {
    for (const std::uint32_t gpu : {0u, 1u, 3u}) REQUIRE(bench.start(gpu, right) == Status::ok);
    REQUIRE(bench.start(2, other) == Status::ok);
    bench.settle();
    std::size_t mismatches = 0;
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
      CAPTURE(gpu);
      RingGpu& one = *bench.of[gpu];
      CHECK(one.registers["ended"] == 1);
      CHECK(one.registers.reported.size() == 1);
      if (bench.transfer(gpu) == Status::mismatch)
        ++mismatches;
      else
        CHECK(bench.transfer(gpu) == Status::peer_failed);
      CHECK((one.registers["interrupt"] & 2) == 2);
      CHECK(bench.start(gpu, right) == Status::aborted);
    }
    CHECK(mismatches >= 1);
    for (const auto& gpu : bench.of) {
      gpu->registers.reported.clear();
      gpu->engine.registers.reset();
    }
  }
}

TEST_CASE("a GPU that takes another one for its neighbour is found out") {
  RingBench bench(4);
  for (const std::uint32_t gpu : {0u, 2u, 3u}) REQUIRE(bench.start(gpu, {}) == Status::ok);
  NamedRegisters& r = bench.of[1]->registers;
  r.set("buffer", address_map::on_gpu(1, 0x400));
  r.set("bytes", 4096);
  r.set("place", 1 | 4 << 16);
  r.set("options", 2);
  r.set("neighbours", 2 | 3 << 16);
  REQUIRE(bench.command(1) == Status::ok);
  bench.settle();
  CHECK(bench.transfer(1) == Status::mismatch);
  CHECK_THAT(r.reported.at(0).text, Catch::Contains("from GPU 3 expected"));
}

TEST_CASE("what memory refuses ends the collective at all GPUs") {
  RingBench bench(3);
  const auto serve = bench.of[1]->memory.serve;
  bench.of[1]->memory.serve = [serve](tlm::tlm_generic_payload& access) {
    return access.is_write() ? tlm::TLM_ADDRESS_ERROR_RESPONSE : serve(access);
  };
  bench.start_all({});
  bench.settle();
  CHECK(bench.transfer(1) == Status::bad_address);
  for (std::uint32_t gpu = 0; gpu < 3; ++gpu) CHECK(bench.of[gpu]->registers["ended"] == 1);
  CHECK(bench.transfer(0) == Status::peer_failed);
}

/// Places 0, 1 and 2 have a part of no bytes, and the sum of the last one begins at place 0.
TEST_CASE("a GPU that fails before it has been sent anything notifies all others") {
  RingBench bench(4);
  bench.of[0]->memory.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_ADDRESS_ERROR_RESPONSE; };
  Staged staged;
  staged.bytes = 32;
  bench.start_all(staged);
  bench.settle();
  CHECK(bench.transfer(0) == Status::bad_address);
  for (std::uint32_t gpu = 1; gpu < 4; ++gpu) {
    CHECK(bench.of[gpu]->registers["ended"] == 1);
    CHECK(bench.transfer(gpu) == Status::peer_failed);
  }
}

TEST_CASE("after a reset of all GPUs at any moment, the next collective is as the first one") {
  RingBench bench(3);
  Staged staged;
  staged.bytes = 6144;
  for (const Picoseconds moment : std::initializer_list<Picoseconds>{1, 300'000, 900'000, 1'500'000, 3'000'000}) {
    CAPTURE(moment);
    bench.start_all(staged);
    bench.run_for(moment);
    for (const auto& gpu : bench.of) gpu->engine.registers.reset();
    bench.settle();
    for (const auto& gpu : bench.of) {
      REQUIRE(gpu->registers["started"] == 0);
      REQUIRE(gpu->registers["ended"] == 0);
      REQUIRE(gpu->registers["sent_bytes"] == 0);
      REQUIRE(gpu->registers["status"] == 0);
      REQUIRE_FALSE(gpu->interrupt.read());
    }
    bench.fill(staged);
    std::vector<std::vector<unsigned char>> sums;
    for (std::uint32_t part = 0; part < 3; ++part) sums.push_back(bench.sum_of(staged, part));
    bench.start_all(staged);
    bench.settle();
    for (std::uint32_t gpu = 0; gpu < 3; ++gpu) {
      CHECK(bench.transfer(gpu) == Status::ok);
      for (std::uint32_t part = 0; part < 3; ++part) CHECK(bench.bytes_of_part(gpu, staged, part) == sums[part]);
    }
  }
}

}  // namespace t3vp::test::endpoint_programs_test
