// What a kernel's plan and grid may say, and how much of it fits on the compute units.
#include <fmt/format.h>

#include "guest_bench.h"

namespace t3vp::test::plan_test {

using Catch::Contains;

namespace {

t3_plan with(t3_plan plan, std::uint32_t t3_plan::*member, std::uint32_t value) {
  plan.*member = value;
  return plan;
}

/// Returns the plan with this member uninitialized.
t3_plan with_unset(t3_plan plan, bool t3_plan::*member) {
  std::memset(&(plan.*member), 0xA5, 1);
  return plan;
}

t3_plan with_range(t3_plan plan, t3_range (t3_plan::*member)[T3_RANGES_MAX], t3_range range) {
  (plan.*member)[0] = range;
  return plan;
}

}  // namespace

TEST_CASE("a plan that cannot be is refused") {
  using Plan = t3_plan (*)(const t3_device*, const t3_launch*);
  const std::pair<const char*, Plan> plans[] = {
      {"plan whose workgroups is 0: 1 or more expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::workgroups, 0); }},
      {"plan whose workgroups_per_cu is 0: 1 to 1048576 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::workgroups_per_cu, 0); }},
      {"plan whose waves is 0: 1 to 65536 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::waves, 0); }},
      {"plan whose name is NULL: a text expected",
       [](auto* d, auto* a) {
         t3_plan plan = guest_plan(d, a);
         plan.name = nullptr;
         return plan;
       }},
      {"plan whose waves is 65537: 1 to 65536 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::waves, 65537); }},
      {"plan whose tiles is 4097: 0 to 4096 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::tiles, 4097); }},
      {"plan whose written_count is 0: 1 to 4 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::written_count, 0); }},
      {"plan whose written_count is 5: 1 to 4 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::written_count, 5); }},
      {"plan whose read_count is 5: 0 to 4 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::read_count, 5); }},
      {"plan whose sent_count is 5: 0 to 4 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::sent_count, 5); }},
      {"plan whose fetched_count is 5: 0 to 4 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::fetched_count, 5); }},
      {"plan whose shared_count is 5: 0 to 4 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::shared_count, 5); }},
      {"plan whose timeline_rows is 1025: 0 to 1024 expected",
       [](auto* d, auto* a) { return with(guest_plan(d, a), &t3_plan::timeline_rows, 1025); }},
      {"plan whose range 1 that it fetches from begins at 0x1fffe0 and ends before 0x200020",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::fetched, {0x1FFFE0, 0x200020});
       }},
      {"plan whose range 1 that it shares begins at 0x100000000000 and ends before 0x100000000020",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::shared, {address_map::on_gpu(1, 0), address_map::on_gpu(1, 32)});
       }},
      {"plan with tiles_named 9: T3_TILES_UNNAMED (0), T3_TILES_FORGOTTEN (1) or T3_TILES_NAMED (2) expected",
       [](auto* d, auto* a) {
         t3_plan plan = guest_plan(d, a);
         plan.tiles_named = static_cast<t3_tiles_named>(9);
         return plan;
       }},
      {"plan whose together is 165: false (0) or true (1) expected",
       [](auto* d, auto* a) { return with_unset(guest_plan(d, a), &t3_plan::together); }},
      {"plan whose awaits_arrivals is 165: false (0) or true (1) expected",
       [](auto* d, auto* a) { return with_unset(guest_plan(d, a), &t3_plan::awaits_arrivals); }},
      {"plan whose doorbells is 165: false (0) or true (1) expected",
       [](auto* d, auto* a) { return with_unset(guest_plan(d, a), &t3_plan::doorbells); }},
      {"plan whose stores_here is 165: false (0) or true (1) expected",
       [](auto* d, auto* a) { return with_unset(guest_plan(d, a), &t3_plan::stores_here); }},
      {"plan whose range 1 that it writes begins at 0x80 and ends before 0x80: one of 0x0 to 0x1fffff expected",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::written, {0x80, 0x80});
       }},
      {"plan whose range 1 that it writes begins at 0x80 and ends before 0x40",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::written, {0x80, 0x40});
       }},
      {"plan whose range 1 that it writes begins at 0x1fffe0 and ends before 0x200020",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::written, {0x1FFFE0, 0x200020});
       }},
      {"plan whose range 1 that it reads begins at 0x100000000000 and ends before 0x100000000020",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::read, {address_map::on_gpu(1, 0), address_map::on_gpu(1, 32)});
       }},
      {"plan whose range 1 that it sends to begins at 0x100000000000 and ends before 0x100000000020",
       [](auto* d, auto* a) {
         return with_range(guest_plan(d, a), &t3_plan::sent, {address_map::on_gpu(1, 0), address_map::on_gpu(1, 32)});
       }},
  };
  GuestBench guest(guest_meets);
  for (const auto& [text, plan] : plans) {
    guest.kernel.plan = plan;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::bad_packet);
    CHECK_THAT(guest.report(), Catch::StartsWith("kernel guest: a plan ") && Contains(text));
  }
}

namespace {

/// A kernel of many workgroups, each of which takes so much; how many of them run at once on a compute unit.
struct Crowd {
  GuestBench guest{guest_doubles};
  static inline std::uint32_t register_bytes = 0, local_bytes = 0, per_cu = 0;
  static inline bool together = false;

  static t3_plan plan(const t3_device* device, const t3_launch* launch) {
    t3_plan plan = guest_plan(device, launch);
    plan.workgroups = 40;
    plan.written[0].end = plan.written[0].begin + 80 * 32;
    plan.read[0].end = plan.read[0].begin + 80 * 32;
    plan.workgroups_per_cu = per_cu;
    plan.register_bytes = register_bytes;
    plan.local_bytes = local_bytes;
    plan.together = together;
    return plan;
  }
  Crowd() { guest.kernel.plan = &plan; }
  /// The diagnosis counts the workgroups that have started.
  std::uint32_t resident() {
    ClusterUnderTest& gpu = guest.bench.gpu();
    gpu.put(guest.bench.memory, guest.gemm.packet);
    gpu.ring();
    guest.bench.wait(guest.bench.memory.latency + guest.bench.parameters.launch_latency + 1);
    std::uint32_t started = 0;
    while (!gpu.cluster.diagnosis().empty() &&
           gpu.cluster.diagnosis()[0].find(fmt::format(" {} workgroups have started", started)) == std::string::npos)
      ++started;
    REQUIRE(guest.bench.finish());
    return started / guest.bench.parameters.compute_units;
  }
};

}  // namespace

TEST_CASE("as many workgroups run at once as the kernel is made for and registers and local memory allow") {
  Crowd crowd;
  const ComputeParameters& p = crowd.guest.bench.parameters;
  const auto resident = [&](std::uint32_t per_cu, std::uint32_t register_bytes, std::uint32_t local_bytes) {
    Crowd::per_cu = per_cu, Crowd::register_bytes = register_bytes, Crowd::local_bytes = local_bytes;
    return crowd.resident();
  };
  CHECK(resident(5, 0, 8) == 5);
  CHECK(resident(5, p.register_bytes / 5, p.local_bytes / 5) == 5);
  CHECK(resident(5, p.register_bytes / 5 + 1, 8) == 4);
  CHECK(resident(5, 0, p.local_bytes / 3) == 3);
  CHECK(resident(5, p.register_bytes / 2, p.local_bytes / 3) == 2);
  CHECK(resident(5, p.register_bytes, p.local_bytes) == 1);
}

TEST_CASE("a kernel is refused of which no workgroup fits or not all of those that wait for each other") {
  Crowd crowd;
  const ComputeParameters& p = crowd.guest.bench.parameters;
  const auto refusal = [&](std::uint32_t register_bytes, std::uint32_t local_bytes, bool together) {
    Crowd::per_cu = 14, Crowd::register_bytes = register_bytes, Crowd::local_bytes = local_bytes;
    Crowd::together = together;
    crowd.guest.bench.run(crowd.guest.gemm.packet);
    Crowd::together = false;
    return crowd.guest.bench.gpu().error() == Status::bad_packet ? crowd.guest.report() : "";
  };
  CHECK(refusal(p.register_bytes + 1, 8, false) ==
        "kernel guest: a workgroup takes 262145 bytes of registers and 8 of local memory: at most 262144 and 98304, "
        "what a compute unit has, expected");
  CHECK_THAT(refusal(0, p.local_bytes + 1, false), Contains("takes 0 bytes of registers and 98305 of local memory"));
  CHECK(refusal(p.register_bytes / 13 + 1, 8, true) ==
        "kernel guest: 40 workgroups that wait for each other: 1 to 36 that fit at once expected");
  CHECK(refusal(p.register_bytes / 14, 8, true).empty());
  const auto too_many = [&](std::uint32_t per_cu) {
    Crowd::per_cu = per_cu, Crowd::register_bytes = Crowd::local_bytes = 0;
    crowd.guest.bench.run(crowd.guest.gemm.packet);
    return crowd.guest.bench.gpu().error() == Status::bad_packet ? crowd.guest.report() : "";
  };
  CHECK(too_many(1 << 18) ==
        "kernel guest: 1572864 waves that run at once with 4718592 tiles: up to 262144 with 4194304 expected");
  CHECK(too_many(1 << 10).empty());
  CHECK(crowd.guest.bench.gpu().error() == Status::ok);
}

TEST_CASE("a grid that is not the plan's is refused and none is the plan's") {
  GuestBench guest(guest_meets);
  for (const std::uint32_t workgroups : {1u, 3u}) {
    guest.gemm.packet.header.workgroups = workgroups;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::bad_packet);
    CHECK(guest.report() ==
          fmt::format("workgroups {}: the 2 of kernel guest's work, or 0 for all, expected", workgroups));
  }
  for (const std::uint32_t workgroups : {0u, 2u}) {
    guest.gemm.packet.header.workgroups = workgroups;
    guest.bench.run(guest.gemm.packet);
    CHECK(guest.bench.gpu().error() == Status::ok);
  }
}

}  // namespace t3vp::test::plan_test
