// Collectives by the rings of a torus's dimensions: every element, what links carry, times, what is refused.
#include <catch2/catch.hpp>

#include "compute/kernel_registry.h"
#include "kernels/kernels.h"
#include "system/kernel_runs.h"
#include "t3/arguments/collective.h"
#include "t3/check.h"
#include "t3/kernel_handle.h"
#include "workloads/collective/collective_oracle.h"
#include "workloads/collective/tests/torus_guest.h"

namespace t3vp::test::torus_rings_test {

namespace {

using nlohmann::json;
using Dimensions = std::vector<std::uint32_t>;
using Catch::Contains;

std::uint32_t product(const Dimensions& dimensions) {
  std::uint32_t gpus = 1;
  for (const std::uint32_t size : dimensions) gpus *= size;
  return gpus;
}

json torus(const Dimensions& dimensions) { return {{"kind", "torus"}, {"dimensions", dimensions}}; }

json workload(const std::string& op, std::uint64_t elements, const std::string& element) {
  return {{"collective",
           {{"op", op},
            {"algorithm", "torus-rings"},
            {"bytes", elements * (element == "fp32" ? 4 : 2)},
            {"element", element}}}};
}

Settings by_rings(const Dimensions& dimensions, const std::string& op, std::uint64_t elements,
                  const std::string& element = "fp16") {
  return kernel_run("sequential", product(dimensions), workload(op, elements, element)) +
         Settings{"system.links.topology=" + torus(dimensions).dump()};
}

const char* const ops[] = {"reduce-scatter", "all-gather", "all-reduce"};

}  // namespace

TEST_CASE("rings of a torus give every GPU the right elements at odd sizes in any dimensions") {
  const auto [dimensions, element, elements, units] =
      GENERATE(table<Dimensions, const char*, std::uint64_t, std::uint32_t>({
          {{3, 2}, "fp16", 9001, 4},
          {{4, 4}, "bf16", 12347, 4},
          {{2, 5}, "fp32", 20011, 4},
          {{2, 2, 2}, "fp16", 7001, 4},
          {{2, 2, 2}, "fp32", 20011, 248},  // more workgroups than counters for three dimensions
          {{2, 3, 2}, "fp32", 5, 4},
          {{3, 2}, "fp32", 6 * (6 * 512 - 2), 4},  // chunks of six blocks of 2 KiB, and of seven
      }));
  for (const char* op : ops) {
    CAPTURE(op, elements, dimensions);
    const Run run = right_run(
        by_rings(dimensions, op, elements, element) +
        Settings{"data=functional", "check=protocol", "system.compute.compute_units=" + std::to_string(units)});
    CHECK(run.report()["functional"]["elements"] == elements * product(dimensions));
    CHECK(run.report()["functional"]["checked"] == true);
  }
}

// Every hop is one link, and a sum as well as a copy goes to each GPU but one of each chunk once.
TEST_CASE("links carry what rings of a torus send and no byte more") {
  const Dimensions dimensions = GENERATE(Dimensions{3, 2}, Dimensions{2, 3, 2});
  constexpr std::uint64_t elements = 5003;
  for (const char* op : ops) {
    const std::uint64_t rounds = op == std::string("all-reduce") ? 2 : 1;
    CHECK(carried(right_run(by_rings(dimensions, op, elements))) == 2 * rounds * (product(dimensions) - 1) * elements);
  }
}

TEST_CASE("rings of a torus take as long without data and whatever the quantum") {
  for (const char* op : ops) {
    const auto time = [&](const Settings& settings) {
      return right_run(by_rings({3, 2}, op, 7777) + settings).report()["time_ns"];
    };
    const json finest = time({"data=functional", "quantum_ns=1"});
    CHECK(time({"data=functional"}) == time({"data=timing-only"}));
    for (const char* quantum : {"quantum_ns=50", "quantum_ns=333.5", "quantum_ns=1000000"})
      CHECK(time({quantum})["total"].get<double>() == Approx(finest["total"].get<double>()).margin(200));
  }
}

TEST_CASE("a wrong bit in what rings of a torus have summed is seen") {
  for (const char* op : ops) {
    const Run run =
        Run::of_platform(by_rings({2, 3}, op, 4002) +
                         Settings{"data=functional", R"(inject={"wrong_element": {"gpu": 2, "index": 17}})"});
    CHECK(run.exit_code() == 1);
    CHECK(run.report()["functional"]["mismatches"] == 1);
  }
}

namespace {

/// Chunks of one element, summed stage by stage: of each GPU its own coordinate's along the stage's dimension.
std::vector<std::vector<float>> summed_by_stages(std::vector<std::vector<float>> values, const Dimensions& dimensions) {
  const std::uint32_t gpus = product(dimensions);
  std::uint32_t stride = gpus;
  for (auto size = dimensions.rbegin(); size != dimensions.rend(); ++size) {
    stride /= *size;
    const std::vector<std::vector<float>> before = values;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      for (std::uint32_t chunk = gpu / stride * stride; chunk < gpu / stride * stride + stride; ++chunk) {
        values[gpu][chunk] = 0;
        for (std::uint32_t other = 0; other < gpus; ++other)
          if (other % stride == gpu % stride && other / (stride * *size) == gpu / (stride * *size))
            values[gpu][chunk] += before[other][chunk];
      }
  }
  return values;
}

}  // namespace

TEST_CASE("the oracle of rings of a torus says what is left of each stage") {
  const Dimensions dimensions = GENERATE(Dimensions{3, 2}, Dimensions{2, 3, 4});
  const std::uint32_t gpus = product(dimensions);
  t3_collective c{T3_REDUCE_SCATTER, T3_TORUS_RINGS, T3_FP32, gpus, 0, 0, {}, {}, {}};
  std::copy(dimensions.begin(), dimensions.end(), c.dimensions);
  const CollectiveOracle oracle(c, gpus, 3);
  std::vector<std::vector<float>> values, received;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    values.push_back(oracle.sent(gpu));
    received.push_back(oracle.received(gpu));
  }
  CHECK(received == summed_by_stages(values, dimensions));
}

namespace {

const Settings torus_128{"system=" + config("systems/torus-128.json").string(), "gpus=128", "method=sequential",
                         "data=timing-only", "simulate=mirror"};

}  // namespace

// Each dimension's kernels send half of all over one link and half over the other, one kernel after the other.
TEST_CASE("128 GPUs of a torus sum up in the time of its rings' steps") {
  const std::uint64_t bytes = GENERATE(1u << 20, 4u << 20, 16u << 20);
  constexpr double link_GBps = 25, latency_ns = 700, launch_ns = 3000;
  constexpr std::uint32_t stages = 4, steps = 2 * (7 + 15);
  const Run run = right_run(torus_128 + Settings{"workload=" + workload("all-reduce", bytes / 4, "fp32").dump()});
  const double links = 127.0 / 128 * static_cast<double>(bytes) / link_GBps;
  CHECK(run.time("total") >= links + stages * (launch_ns + latency_ns));
  // A step as a closed form has it takes a latency, which here hides behind others' transfers, and no time in memory.
  constexpr double memory_ns = 750;
  CHECK(run.time("total") <= links + stages * launch_ns + steps * (latency_ns + memory_ns));
}

TEST_CASE("on 128 GPUs of a torus an all-reduce of long buffers by its rings is twice as fast as a direct one") {
  const auto time = [](const char* algorithm) {
    json all_reduce = workload("all-reduce", 4 << 20, "fp16");
    all_reduce["collective"]["algorithm"] = algorithm;
    return right_run(torus_128 + Settings{"workload=" + all_reduce.dump()}).time("total");
  };
  const double by_rings = time("torus-rings"), direct = time("direct");
  CHECK(2 * by_rings < direct);
  // 127 of 128 parts of 8 MiB pass a GPU's four links of 25 GB/s twice.
  CHECK(by_rings >= 2 * 127.0 / 128 * (8 << 20) / (4 * 25));
  // Half of all sums, and then of their copies, cross the middle of the longer dimension over 16 links each way.
  CHECK(direct >= 2 * 64.0 * 64 * (8 << 20) / 128 / (16 * 25));
  CHECK(direct <= 1.25 * 2 * 64.0 * 64 * (8 << 20) / 128 / (16 * 25));
}

TEST_CASE("all-reduces by the rings of a torus follow one another with the same staging and counters") {
  const Dimensions dimensions = GENERATE(Dimensions{3, 2}, Dimensions{2, 5}, Dimensions{2, 2, 2});
  constexpr std::uint64_t elements = 9001;
  const Run run = Run::of_platform(configuration_of(by_rings(dimensions, "all-reduce", elements, "fp32") +
                                                    Settings{"data=functional", "check=protocol"}),
                                   {}, guest_sums_in_buckets);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  CHECK(run.report()["functional"]["elements"] == elements * product(dimensions));
}

TEST_CASE("rings of a torus that cannot be are one line") {
  const auto message = [](const std::string& op, const Settings& settings) {
    return refusal_of(by_rings({3, 2}, op, 1000) + settings);
  };
  const char* const place = "/workload/collective/algorithm";
  CHECK_THAT(message("all-to-all", {}),
             Contains(place) && Contains("reduce-scatter, all-gather and all-reduce, not all-to-all"));
  CHECK_THAT(message("broadcast", {}), Contains(place) && Contains("not broadcast"));
  for (const char* topology : {"ring", "fully-connected", "switch"})
    CHECK_THAT(message("all-reduce", {std::string("system.links.topology=") + topology}),
               Contains(place) && Contains("needs links of kind torus"));
}

namespace {

t3_collective_arguments good_ring() {
  t3_collective_arguments p{};
  p.out = address_map::on_gpu(5, 0x10000), p.staging = address_map::on_gpu(5, 0x80000);
  p.elements = 1000;
  p.signal_base = 16;
  p.gpu = 5, p.gpus = 24;
  p.ring_stride = 2, p.ring_length = 3;
  p.op = T3_REDUCE_SCATTER, p.algorithm = T3_RING;
  return p;
}

/// What the kernel says, on a GPU with links to its neighbours in the ring alone: 3 and 1, since 5 has place 2 of 1,
/// 3, 5.
std::string refusal(const t3_collective_arguments& arguments) {
  t3_check check{};
  check.gpu = 5;
  check.memory_bytes = 1 << 20;
  check.counters = 512;
  check.reaches = [](void*, std::uint64_t address) {
    return address_map::gpu_of(address) == 3 || address_map::gpu_of(address) == 1;
  };
  const t3_launch launch{&arguments, 4, 4};
  const t3_kernel* kernel = compute::KernelRegistry(t3_kernels).find(t3_kernel_handle("collective"));
  return kernel->check(&check, &launch) ? "" : check.text;
}

}  // namespace

TEST_CASE("a kernel of rings that are none refuses them") {
  const auto with = [](auto change) {
    t3_collective_arguments p = good_ring();
    change(p);
    return refusal(p);
  };
  using P = t3_collective_arguments&;
  CHECK(refusal(good_ring()).empty());
  CHECK_THAT(with([](P p) { p.ring_stride = 0; }), Contains("ring_stride 0, ring_length 3: 2 or more GPUs"));
  CHECK_THAT(with([](P p) { p.ring_length = 0; }), Contains("ring_stride 2, ring_length 0: 2 or more GPUs"));
  CHECK_THAT(with([](P p) { p.ring_length = 1; }), Contains("ring_stride 2, ring_length 1: 2 or more GPUs"));
  CHECK_THAT(with([](P p) { p.ring_length = 5; }), Contains("whose number times the stride divides 24"));
  CHECK_THAT(with([](P p) { p.ring_stride = 1u << 31, p.ring_length = 1u << 31; }), Contains("divides 24"));
  const std::string elsewhere = "ring_stride 2, ring_length 3 with op ";
  CHECK_THAT(with([](P p) { p.op = T3_ALL_TO_ALL; }), Contains(elsewhere + "2, algorithm 0: 0 of both"));
  CHECK_THAT(with([](P p) { p.op = T3_BROADCAST; }), Contains(elsewhere + "3, algorithm 0"));
  CHECK_THAT(with([](P p) { p.algorithm = T3_DIRECT; }), Contains(elsewhere + "0, algorithm 1"));
  CHECK_THAT(with([](P p) { p.algorithm = T3_TORUS_RINGS; }), Contains("algorithm 4, element 0: at most"));
  CHECK_THAT(with([](P p) { p.ring_stride = 1; }), Contains("GPU 4 of out"));
  CHECK_THAT(with([](P p) { p.ring_stride = 4; }), Contains("GPU 9 of out"));
  CHECK_THAT(with([](P p) { p.gpu = p.gpus; }), Contains("gpu 24 of 24: 5, this one"));
  // Two of the three steps bring 84 elements at most each way, in a slot each, and 32 bytes for where they begin.
  CHECK_THAT(with([](P p) { p.staging += 0x7ffe0; }), Contains("staging 0x5000000fffe0 of 896 bytes"));
  CHECK_THAT(with([](P p) { p.op = T3_ALL_GATHER; }), Contains("staging 0x500000080000: 0 expected"));
}

TEST_CASE("a kernel that gathers an output refuses one that it cannot cut into tiles") {
  const auto with = [](auto change) {
    t3_collective_arguments p = good_ring();
    p.staging = p.elements = 0;
    p.rows = 130, p.columns = 70, p.stride = 160, p.tile_rows = 32, p.tile_columns = 64;
    p.op = T3_ALL_GATHER;
    change(p);
    return refusal(p);
  };
  using P = t3_collective_arguments&;
  CHECK(with([](P) {}).empty());
  CHECK_THAT(with([](P p) { p.op = T3_REDUCE_SCATTER; }), Contains("rows 130 with op 0: 0 expected in other than"));
  CHECK_THAT(with([](P p) { p.elements = 9100; }), Contains("elements 0x238c: 0 expected"));
  CHECK_THAT(with([](P p) { p.rows = 0, p.elements = 9100; }), Contains("columns 0x46: 0 expected"));
  CHECK_THAT(with([](P p) { p.tile_rows = 0; }), Contains("in tiles of 0 x 64"));
  CHECK_THAT(with([](P p) { p.stride = 128; }), Contains("with row stride 128"));
  CHECK_THAT(with([](P p) { p.rows = 7000; }), Contains("does not end in memory"));
}

}  // namespace t3vp::test::torus_rings_test
