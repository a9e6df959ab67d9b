// What programs of kernels may count on, and what becomes of those that do what they must not.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "compute/kernel_registry.h"
#include "guest_bench.h"
#include "protocol/plain_name.h"
#include "protocol/traffic_classes.h"
#include "t3/address.h"
#include "t3/check.h"
#include "t3/element_bytes.h"
#include "t3/registers/nic.h"

namespace t3vp::test::device_test {

using namespace compute;

using Catch::Contains;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool with_guard_pages = true;
#else
constexpr bool with_guard_pages = false;
#endif

/// How long guest_doubles takes: the two waves of a workgroup share their compute unit's port and lanes.
Picoseconds time_of_doubling(const ClusterBench& bench) {
  const ComputeParameters& p = bench.parameters;
  const Picoseconds memory = bench.memory.latency, port = cycle_time(32 / p.port_bytes_per_cycle, p.clock_GHz);
  const Picoseconds work = cycle_time(1024 / p.vector_elements_per_cycle, p.clock_GHz);
  return memory + p.launch_latency + memory + port + 2 * work + port + memory;
}

}  // namespace

TEST_CASE("the waves of a workgroup meet and share its local memory that begins as zeros") {
  GuestBench guest(guest_meets);
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  for (std::uint32_t workgroup = 0; workgroup < 2; ++workgroup) {
    // Each round both waves add 1 and 2; wave 0 notes what it finds in the third, wave 1 in the second.
    REQUIRE(guest.out(2 * workgroup, 0) == 9);
    REQUIRE(guest.out(2 * workgroup + 1, 7) == 6);
  }
}

TEST_CASE("a program's work begins when its operands are there and takes its time and computes what it likes") {
  GuestBench guest(guest_doubles);
  std::mt19937 random(3);
  for (std::uint32_t i = 0; i < 4 * 8; ++i) {
    const float value = static_cast<float>(i) + 0.5f;
    std::memcpy(guest.bench.memory.at(guest.gemm.packet.a + i * 4), &value, sizeof value);
  }
  const Picoseconds time = guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  for (std::uint32_t row = 0; row < 4; ++row)
    for (std::uint32_t column = 0; column < 8; ++column)
      REQUIRE(guest.out(row, column) == 2 * (static_cast<float>(8 * row + column) + 0.5f));
  REQUIRE(time == time_of_doubling(guest.bench));
}

TEST_CASE("a program counts in memory of every GPU and gets the values that were there") {
  GuestBench guest(guest_counts);
  guest.bench.memory.at(address_map::on_gpu(0, 0x6020))[0] = 7;
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  std::uint64_t far = 0;
  std::uint32_t near = 0;
  std::memcpy(&far, guest.bench.memory.at(address_map::on_gpu(1, 0x6000)), sizeof far);
  std::memcpy(&near, guest.bench.memory.at(address_map::on_gpu(0, 0x6020)), sizeof near);
  CHECK(far == std::uint64_t{16} << 40);
  CHECK(near == 7 + 16 * 3);
  std::set<float> found;
  for (std::uint32_t row = 0; row < 4; ++row) found.insert(guest.out(row, 0));
  CHECK(found == std::set<float>{12043, 13046, 14049, 15052});
}

TEST_CASE("a program's counters are real in a run without data") {
  GuestBench guest(guest_counts, false);
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  std::uint64_t far = 0;
  std::memcpy(&far, guest.bench.memory.at(address_map::on_gpu(1, 0x6000)), sizeof far);
  CHECK(far == std::uint64_t{16} << 40);
  for (const LoggedAccess& access : guest.bench.memory.accesses(Operation::fetch_add)) {
    CHECK(access.has_data);
    CHECK(!access.cached);
    CHECK(access.traffic == TrafficClass::control);
  }
}

TEST_CASE("a refused fetch-and-add is the kernel's failure and the program is told") {
  GuestBench guest(guest_counts);
  guest.bench.memory.judge = [](const LoggedAccess& access) {
    return access.operation == Operation::fetch_add ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::disabled);
  CHECK(guest.out(0, 0) == -1);
}

TEST_CASE("a load of a peer's memory leaves behind the wave's stores and so does a signal") {
  GuestBench guest(guest_loads_what_it_stored);
  const float value = 5;
  for (std::uint64_t i = 0; i < 8; ++i)
    std::memcpy(guest.bench.memory.at(address_map::on_gpu(1, 0x5000 + 4 * i)), &value, sizeof value);
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  CHECK(guest.out(0, 0) == 5);
  Picoseconds load = 0, signal = 0;
  std::vector<Picoseconds> stores;
  for (const LoggedAccess& access : guest.bench.memory.log) {
    if (address_map::gpu_of(access.address) != 1) continue;
    if (access.address == address_map::on_gpu(1, 0x4000)) stores.push_back(access.arrival);
    if (access.address == address_map::on_gpu(1, 0x5000)) load = access.arrival;
    if (!address_map::is_hbm(access.address)) signal = access.arrival;
  }
  REQUIRE(stores.size() == 2);
  CHECK(load >= stores[0]);
  CHECK(signal >= stores[1]);
}

TEST_CASE("what nothing has been loaded into is zeros whatever was there before") {
  GuestBench guest(guest_loads_a_half);
  for (std::uint32_t i = 0; i < 4 * 8; ++i) {
    const float value = 3;
    std::memcpy(guest.bench.memory.at(guest.gemm.packet.a + i * 4), &value, sizeof value);
  }
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  for (std::uint32_t row = 0; row < 4; ++row)
    for (std::uint32_t column = 0; column < 8; ++column) REQUIRE(guest.out(row, column) == (column < 4 ? 3 : 0));
}

TEST_CASE("arguments that are larger than their kernel says are refused") {
  GuestBench guest(guest_doubles);
  guest.kernel.arguments.size = 1;
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::bad_packet);
  CHECK(
      guest.report() ==
      "kernel guest: its arguments' `read` writes behind a structure of 1 bytes: the size of what it writes expected");
}

TEST_CASE("a timing-only run of a program takes as long by hand and computes nothing") {
  GuestBench timing(guest_doubles, false);
  REQUIRE(timing.bench.run(timing.gemm.packet) == time_of_doubling(timing.bench));
  for (const LoggedAccess& store : timing.bench.memory.accesses(Operation::store)) REQUIRE(!store.has_data);
}

TEST_CASE("what a program must not ask for ends its kernel with one entry in the error log and the next one runs") {
  GuestBench guest(guest_doubles);
  const auto make = [&guest](const guest_mistake& mistake) {
    INFO(mistake.text);
    guest.kernel.run = mistake.run;
    guest.bench.run(guest.gemm.packet);
    REQUIRE(guest.bench.gpu().error() == Status::aborted);
    REQUIRE_THAT(guest.report(), Contains("kernel guest: workgroup 0, wave ") && Contains(mistake.text));
    guest.kernel.run = &guest_doubles;
    guest.bench.run(guest.gemm.packet);
    REQUIRE(guest.bench.gpu().error() == Status::ok);
  };
  for (const guest_mistake* mistakes : {guest_memory_mistakes, guest_work_mistakes})
    for (const guest_mistake* mistake = mistakes; mistake->text != nullptr; ++mistake) make(*mistake);
}

namespace {

/// A wave's row of the output, computed.
t3_access row_of(t3_wave* wave) {
  const auto* const p = static_cast<const t3_gemm_arguments*>(wave->arguments);
  t3_access access{};
  access.address = p->out + 32 * (2 * std::uint64_t{wave->workgroup} + wave->wave);
  access.rows = 1, access.columns = 8, access.element = T3_FP32;
  access.of = {true, static_cast<std::uint8_t>(wave->wave), wave->workgroup};
  t3_vector_work work{};
  work.operations = work.operands = 1;
  work.tiles[0] = {0, 1, 8, T3_FP32};
  t3_work(wave, &work);
  return access;
}

constexpr t3_tile row{0, 1, 8, T3_FP32};

}  // namespace

TEST_CASE("a plan that says that tiles are named is held and others are not") {
  static t3_tiles_named said;
  GuestBench guest([](t3_wave* wave) {  // no name
    t3_access access = row_of(wave);
    access.of = {};
    t3_update(wave, row, access);
    t3_fence(wave);
  });
  guest.kernel.plan = [](const t3_device* device, const t3_launch* launch) {
    t3_plan plan = guest_plan(device, launch);
    plan.tiles_named = said;
    return plan;
  };
  const auto require = [&](t3_tiles_named named, const char* refused) {
    said = named;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == (refused == nullptr ? Status::ok : Status::aborted));
    if (refused != nullptr) CHECK_THAT(guest.report(), Contains(refused));
  };
  require(T3_TILES_UNNAMED, nullptr);
  require(T3_TILES_FORGOTTEN, nullptr);
  require(T3_TILES_NAMED, "a store to 0x90000 to 0x9001f that names no tile: its plan says T3_TILES_NAMED");
  guest.kernel.run = [](t3_wave* wave) {  // through the cache
    t3_store(wave, row, row_of(wave));
    t3_fence(wave);
  };
  require(T3_TILES_FORGOTTEN, nullptr);
  require(T3_TILES_NAMED, "through the cache, which forgets its tile: its plan says T3_TILES_NAMED");
  guest.kernel.run = [](t3_wave* wave) {  // past it
    t3_access access = row_of(wave);
    t3_update(wave, row, access);
    access.uncached = true;
    t3_store(wave, row, access);
    t3_fence(wave);
  };
  require(T3_TILES_NAMED, nullptr);
}

TEST_CASE("a check that refuses without a status that there is has a kernel that does not run") {
  GuestBench guest(guest_meets);
  static std::uint32_t code;
  guest.kernel.check = [](t3_check* check, const t3_launch*) {
    check->code = code;
    return false;
  };
  for (const std::uint32_t refused : {0u, 15u, 16u, 17u, 20u, 22u, 256u}) {  // of a wait, an abort, a reset
    code = refused;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::bad_packet);
    CHECK_THAT(guest.report(), Catch::StartsWith(fmt::format("kernel guest: its check refuses with code {}: ", code)));
  }
  for (const std::uint32_t taken : {1u, 13u, 14u, 21u}) {
    code = taken;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == static_cast<Status>(taken));
    CHECK(guest.report() == "kernel guest: its check refuses, without a text");
  }
  guest.kernel.check = [](t3_check* check, const t3_launch*) {
    check->code = 13;
    return true;
  };
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::bad_packet);
  CHECK(guest.report() ==
        "kernel guest: its check has refused with code 13 and returned true: the one or the other expected");
}

TEST_CASE("an agreement with neighbours that cannot be is refused") {
  using Agree = void (*)(const void*, t3_agreement*, t3_agreement*);
  const std::pair<const char*, Agree> agreements[] = {
      {"an agreement of 17 properties with GPU 0 of 2: up to 16", [](auto*, auto* sent, auto*) { sent->count = 17; }},
      {"an agreement of 0 properties with GPU 2 of 2: ", [](auto*, auto*, auto* expected) { expected->receiver = 2; }},
      {"an agreement whose property 2 has no name",
       [](auto*, auto* sent, auto*) { sent->properties[0].name = "m", sent->count = 2; }},
      {"an agreement whose property 1 has an is_address of 165: false (0) or true (1) expected",
       [](auto*, auto* sent, auto*) {
         sent->properties[0].name = "m", sent->count = 1;
         std::memset(&sent->properties[0].is_address, 0xA5, 1);
       }},
  };
  static Agree wrong;
  GuestBench guest(guest_meets);
  for (const auto& [text, agree] : agreements) {
    wrong = agree;
    guest.kernel.agree = [](const void* arguments, t3_agreement* sent, t3_agreement* expected) {
      sent->gpus = expected->gpus = 2;
      wrong(arguments, sent, expected);
    };
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::bad_packet);
    CHECK_THAT(guest.report(), Catch::StartsWith(std::string("kernel guest: ") + text));
  }
}

TEST_CASE("a program that uses more than its stack ends its kernel and the next one runs") {
  if (with_guard_pages) return;  // the run ends there
  GuestBench guest(guest_recurses);
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::aborted);
  REQUIRE(guest.report() ==
          "kernel guest: workgroup 1, wave 0: its program has used more than its stack of 16384 bytes");
  guest.kernel.run = &guest_meets;
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
}

TEST_CASE("a plan with doorbells lets nothing ring but words, and none of a peer") {
  static std::uint64_t rung;
  static std::uint32_t bytes;
  GuestBench guest([](t3_wave* wave) {
    const std::uint64_t posted = 1;
    t3_write(wave, rung, &posted, bytes);
  });
  guest.kernel.plan = [](const t3_device* device, const t3_launch* launch) {
    t3_plan plan = guest_plan(device, launch);
    plan.doorbells = true;
    return plan;
  };
  const auto require = [&](std::uint64_t address, std::uint32_t length, const std::string& refused) {
    rung = address, bytes = length;
    guest.bench.run(guest.gemm.packet);
    REQUIRE(guest.bench.gpu().error() == Status::aborted);
    CHECK_THAT(guest.report(), Contains(refused));
  };
  const auto page = [](std::uint32_t gpu) { return t3_block_base(gpu, T3_BLOCK_NIC) + T3_NIC_DOORBELL_OFFSET; };
  require(page(0), 8, "in the doorbell page of GPU 0's NIC: 4 bytes at a multiple of 4 expected");
  require(page(0) + 2, 4, "in the doorbell page of GPU 0's NIC: 4 bytes at a multiple of 4 expected");
  require(page(1), 4, "in the doorbell page of GPU 1's NIC: that of GPU 0, the kernel's own, expected");
}

TEST_CASE("a program that writes behind its local memory ends its kernel") {
  GuestBench guest(guest_overruns);
  guest.kernel.plan = [](const t3_device* device, const t3_launch* launch) {
    t3_plan plan = guest_plan(device, launch);
    plan.local_bytes = 5;
    return plan;
  };
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::aborted);
  REQUIRE(guest.report() == "kernel guest: workgroup 1, wave 1: it has written behind the 5 bytes of its local memory");
}

TEST_CASE("the traffic of a kernel is in classes that it names") {
  const auto refusal = [](const char* reads, const char* writes) {
    t3_kernel kernel = guest_kernel(guest_meets, guest_plan);
    kernel.reads = reads, kernel.writes = writes;
    const auto refused = KernelRegistry(t3_kernels).refusal(kernel);
    return refused ? refused->found + ", expected " + refused->expected : std::string();
  };
  const std::string expected = ", expected the name of one, in small letters, digits and _, that ends in _";
  CHECK(refusal("gemm_read", "guest_write").empty());
  CHECK(refusal(nullptr, "guest_write") == "kernel guest: found no class of what it reads" + expected + "read");
  CHECK(refusal("gemm_read", nullptr) == "kernel guest: found no class of what it writes" + expected + "write");
  CHECK(refusal("guest_write", "guest_write") == "kernel guest: found that it reads guest_write" + expected + "read");
  CHECK(refusal("gemm_read", "Guest_write") == "kernel guest: found that it writes Guest_write" + expected + "write");
  CHECK(refusal("_read", "guest_write") == "kernel guest: found that it reads _read" + expected + "read");

  GuestBench guest(guest_doubles);
  guest.kernel.reads = "doubled_read";
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.memory.bytes_of(Operation::load, traffic_class_of("doubled_read").value()) == 4 * 32);
  CHECK(guest.bench.memory.bytes_of(Operation::store, TrafficClass::gemm_write) == 4 * 32);
}

TEST_CASE("who observes programs is told when they begin to compute and when they have come back") {
  GuestBench guest(guest_doubles);
  int depth = 0, times = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> waves;
  guest.bench.gpu().cluster.on_code([&](const KernelCode* code) {
    depth += code != nullptr ? 1 : -1;
    REQUIRE((depth == 0 || depth == 1));
    if (code == nullptr) return;
    ++times;
    REQUIRE(code->kernel == std::string("guest"));
    waves.insert({code->workgroup, code->wave});
  });
  guest.bench.run(guest.gemm.packet);
  REQUIRE(depth == 0);
  // Its arguments, check and plan; of each wave five stretches of its program, and what it computes in its work.
  REQUIRE(times == 3 + 4 * 6);
  constexpr std::uint32_t none = KernelCode::none;
  REQUIRE(waves == decltype(waves){{0, 0}, {0, 1}, {1, 0}, {1, 1}, {none, none}});
}

TEST_CASE("the old value of a fetch-and-add is written on the account of the program whose place it is") {
  static std::uint64_t old;
  old = 99;
  GuestBench guest([](t3_wave* wave) { (void)t3_fetch_add_64(wave, address_map::on_gpu(1, 0x6000), 1, &old); });
  std::uint64_t known = old;
  std::size_t changes = 0;
  guest.bench.gpu().cluster.on_code([&](const KernelCode* code) {
    if (code != nullptr) CHECK(old == known);
    changes += old != known ? 1 : 0;
    known = old;
  });
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::ok);
  CHECK(changes == 4);
  CHECK(old == 3);
}

TEST_CASE("element types are the same for programs and models") {
  for (const auto& [program, model] : {std::pair{T3_FP16, ElementType::fp16}, std::pair{T3_BF16, ElementType::bf16},
                                       std::pair{T3_FP32, ElementType::fp32}}) {
    REQUIRE(static_cast<int>(program) == static_cast<int>(model));
    REQUIRE(t3_element_bytes(program) == bytes_of(model));
  }
}

}  // namespace t3vp::test::device_test
