// Kernels that change how the host computes with floats.
#include <cfenv>

#include "guest_bench.h"
#include "protocol/float_environment.h"

namespace t3vp::test::floats_test {

namespace {

constexpr t3_tile tile{0, 1, 8, T3_FP32};

/// Work that changes the environment, and puts it back when `argument` says so.
void round_up(const void* argument, float* const*) {
  std::fesetround(FE_UPWARD);
  if (argument != nullptr) std::fesetround(FE_TONEAREST);
}

void work(t3_wave* wave, const void* argument) {
  t3_vector_work work{};
  work.operations = 64;
  work.operands = 1;
  work.tiles[0] = tile;
  work.compute = round_up;
  work.argument = argument;
  t3_work(wave, &work);
}

bool rounds_to_nearest() {
  volatile float one = 1;
  return one / 3 == 1.0f / 3 && std::fegetround() == FE_TONEAREST;
}

bool all_nearest = true;  ///< wherever a kernel's code has begun

bool changing_check(t3_check*, const t3_launch*) {
  all_nearest = all_nearest && rounds_to_nearest();
  return std::fesetround(FE_UPWARD) == 0;
}

t3_plan changing_plan(const t3_device* device, const t3_launch* launch) {
  all_nearest = all_nearest && rounds_to_nearest();
  std::fesetround(FE_UPWARD);
  return guest_plan(device, launch);
}

void (*right_read)(void* arguments, const unsigned char* bytes) = nullptr;

void changing_read(void* arguments, const unsigned char* bytes) {
  right_read(arguments, bytes);
  std::fesetround(FE_UPWARD);
}

void changing_agreement(const void*, t3_agreement* sent, t3_agreement* expected) {
  sent->gpus = expected->gpus = 1;
  all_nearest = all_nearest && rounds_to_nearest();
  std::fesetround(FE_UPWARD);
}

}  // namespace

TEST_CASE("a kernel whose program or work leaves another floating-point environment is aborted") {
  struct Case {
    void (*run)(t3_wave*);
    const char* told;
  };
  constexpr Case cases[] = {
      {[](t3_wave*) { std::fesetround(FE_DOWNWARD); }, "its program calls the device or ends, and leaves"},
      {[](t3_wave* wave) {
         std::fesetround(FE_DOWNWARD);
         t3_workgroup_barrier(wave);
         std::fesetround(FE_TONEAREST);
       },
       "its program calls the device or ends, and leaves"},
      {[](t3_wave* wave) { work(wave, nullptr); }, "its work leaves"}};
  GuestBench guest(guest_doubles);
  for (const Case& c : cases) {
    guest.kernel.run = c.run;
    guest.bench.run(guest.gemm.packet);
    CHECK(rounds_to_nearest());
    CHECK(guest.bench.gpu().error() == Status::aborted);
    CHECK_THAT(guest.report(), Catch::StartsWith("kernel guest: workgroup 0, wave 0: ") && Catch::Contains(c.told) &&
                                   Catch::Contains("another floating-point environment than it found"));
  }
  guest.kernel.run = guest_doubles;
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::ok);
}

TEST_CASE("a kernel may change the floating-point environment between two calls and within its work") {
  GuestBench guest([](t3_wave* wave) {
    std::fesetround(FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    t3_workgroup_barrier(wave);
    work(wave, &tile);
  });
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::ok);
}

TEST_CASE("a kernel is refused when reading or checking or planning leaves another floating-point environment") {
  GuestBench guest([](t3_wave*) {});
  const t3_kernel right = guest.kernel;
  right_read = right.arguments.read;
  struct Case {
    const char* part;
    void (*change)(t3_kernel&);
  };
  constexpr Case cases[] = {{"its arguments' `read`", [](t3_kernel& k) { k.arguments.read = changing_read; }},
                            {"its check", [](t3_kernel& k) { k.check = changing_check; }},
                            {"its plan", [](t3_kernel& k) { k.plan = changing_plan; }},
                            {"its agreement", [](t3_kernel& k) { k.agree = changing_agreement; }}};
  for (const Case& c : cases) {
    guest.kernel = right;
    c.change(guest.kernel);
    guest.bench.run(guest.gemm.packet);
    CHECK(rounds_to_nearest());
    CHECK(guest.bench.gpu().error() == Status::bad_packet);
    CHECK_THAT(guest.report(), Catch::StartsWith(std::string("kernel guest: ") + c.part + " leaves another"));
  }
  CHECK(all_nearest);
  guest.kernel = right;
  guest.bench.run(guest.gemm.packet);
  CHECK(guest.bench.gpu().error() == Status::ok);
}

}  // namespace t3vp::test::floats_test
