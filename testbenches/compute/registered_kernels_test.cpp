// What kernels are registered with, and packets for those that are not.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "compute/kernel_registry.h"
#include "guest_bench.h"
#include "protocol/plain_name.h"
#include "protocol/traffic_classes.h"

namespace t3vp::test::registered_kernels_test {

using namespace compute;

using Catch::Contains;

TEST_CASE("a packet for a kernel that nobody has registered is refused") {
  GuestBench guest(guest_meets);
  guest.gemm.packet.header.kernel = handle::gemm;
  guest.bench.run(guest.gemm.packet);
  REQUIRE(guest.bench.gpu().error() == Status::bad_packet);
  REQUIRE(guest.report() ==
          fmt::format("kernel {:#010x}: one of {:#010x} (guest) expected", handle::gemm, t3_kernel_handle("guest")));
}

TEST_CASE("kernels are registered only with a name of their own and all parts") {
  const auto refusal = [](const std::vector<t3_kernel>& kernels) {
    std::vector<const t3_kernel*> list;
    for (const t3_kernel& kernel : kernels) list.push_back(&kernel);
    list.push_back(nullptr);
    try {
      const KernelRegistry registry(list.data());
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto named = [](const char* name) {
    t3_kernel kernel = guest_kernel(guest_meets, guest_plan);
    kernel.name = name;
    return kernel;
  };
  CHECK(refusal({}).empty());
  CHECK(refusal({named("one"), named("other")}).empty());
  CHECK(refusal({named("one"), named("other"), named("one")}) ==
        fmt::format("kernel one: its handle {:#010x} is that of one as well, expected another name",
                    t3_kernel_handle("one")));
  REQUIRE(t3_kernel_handle("costarring") == t3_kernel_handle("liquid"));
  CHECK_THAT(refusal({named("costarring"), named("liquid")}),
             Catch::StartsWith("kernel liquid: its handle ") && Catch::Contains(" is that of costarring as well"));
  const std::string plain = std::string(", expected ") + a_plain_name;
  CHECK(refusal({named("one"), named(nullptr)}) == "kernel number 2: found no name" + plain);
  CHECK(refusal({named("")}) == "kernel number 1: found the name \"\"" + plain);
  CHECK(refusal({named("a\nb")}) == "kernel number 1: found the name \"a\nb\"" + plain);
  CHECK_THAT(refusal({named(std::string(65, 'k').c_str())}), Catch::EndsWith("k\"" + plain));
  for (const std::uint32_t bytes : {0u, 4097u}) {
    t3_kernel kernel = named("guest");
    kernel.arguments.bytes = bytes;
    CHECK(refusal({kernel}) ==
          fmt::format("kernel guest: found arguments of {} bytes as a structure of {}, expected a description of 1 to "
                      "4096, and of a structure of 1 to 32768",
                      bytes, kernel.arguments.size));
  }
  t3_kernel unset = named("guest");
  std::memset(&unset.is_producer, 0xA5, 1);
  CHECK(refusal({unset}) == "kernel guest: found an is_producer of 165, expected false (0) or true (1)");
  for (const std::string part : {"check", "plan", "program"}) {
    t3_kernel kernel = named("guest");
    if (part == "check") kernel.check = nullptr;
    if (part == "plan") kernel.plan = nullptr;
    if (part == "program") kernel.run = nullptr;
    CHECK(refusal({kernel}) == "kernel guest: found no " + part + ", expected a check, a plan and a program");
  }
}

TEST_CASE("every kernel of the platform can be registered and is found by its handle") {
  const KernelRegistry registry(t3_kernels);
  for (const t3_kernel* const* kernel = t3_kernels; *kernel != nullptr; ++kernel)
    CHECK(registry.find(t3_kernel_handle((*kernel)->name)) == *kernel);
  CHECK(registry.find(0) == nullptr);
}

}  // namespace t3vp::test::registered_kernels_test
