// `check` memory: accesses are held against what the driver has allocated.
#include <catch2/catch.hpp>

#include "system/platform_run.h"
#include "t3/address.h"
#include "t3/t3.h"

namespace t3vp::test::memory_check_test {

namespace {

void require_clean_and_equal(const Settings& settings) {
  const Run without = Run::of_platform(settings + Settings{"check=none"}), with = Run::of_platform(settings);
  CAPTURE(settings);
  for (const std::string& line : with.diagnosis()) UNSCOPED_INFO(line);
  REQUIRE(with.exit_code() == 0);
  REQUIRE(with.text_without({"host", "config_hash"}) == without.text_without({"host", "config_hash"}));
}

}  // namespace

TEST_CASE("the memory checker finds nothing in a run of any method and leaves its report as it is") {
  for (const char* method : {"sequential", "t3", "t3-mca", "ideal-rs-nmc"})
    for (const char* data : {"functional", "timing-only"})
      require_clean_and_equal(gemm(200, 264, 96) + Settings{on_small_system(), "gpus=3",
                                                            std::string("method=") + method,
                                                            std::string("data=") + data});
}

TEST_CASE("the memory checker finds nothing in other workloads, with both checkers, and in a mirror") {
  const Settings both{on_small_system(), R"(check=["protocol", "memory"])"};
  const auto require_clean = [&](const Settings& settings) {
    const Run run = Run::of_platform(settings + both);
    for (const std::string& line : run.diagnosis()) UNSCOPED_INFO(line);
    REQUIRE(run.exit_code() == 0);
  };
  for (const char* method : {"bulk", "fused"}) {
    const std::string by = std::string("method=") + method;
    require_clean({by, R"(workload={"gemv": {"rows": 256, "columns": 96}})"});
    require_clean({by, R"(workload={"experts": {"tokens": 64, "hidden": 64, "inner": 96}})"});
  }
  require_clean({"gpus=null", "method=sequential",
                 R"(workload={"layer": "training", "tp": 2,
                    "transformer": {"hidden": 64, "heads": 4, "sequence": 33, "batch": 2, "element": "bf16"}})"});
  require_clean(gemm(512, 512, 128) + Settings{"gpus=4", "method=t3-mca", "data=timing-only", "simulate=mirror"});
}

namespace {

/// A matrix of 64 x 64 fp16, 8 KiB, in a piece of so many bytes.
t3_status place(t3_context* context, std::uint64_t bytes, t3_matrix* matrix) {
  *matrix = {0, 128, 64, 64, T3_FP16, T3_CACHED};
  return t3_malloc(context, bytes, &matrix->address);
}

t3_status multiply(t3_context* context, const t3_matrix& out, const t3_matrix& a) {
  const t3_output output{out, {64, 64, 4}};
  T3_TRY(t3_gemm(context, &output, &a, &a, {}));
  return t3_wait_kernels(context);
}

t3_status kernel_reads_beyond(t3_context* context, const t3_hal*) {
  t3_matrix a, out;
  T3_TRY(place(context, 8192, &out));
  T3_TRY(place(context, 4096, &a));
  return multiply(context, out, a);
}

t3_status kernel_writes_beyond(t3_context* context, const t3_hal*) {
  t3_matrix a, out;
  T3_TRY(place(context, 8192, &a));
  T3_TRY(place(context, 8191, &out));
  return multiply(context, out, a);
}

t3_status kernel_reads_freed(t3_context* context, const t3_hal*) {
  t3_matrix a, out;
  T3_TRY(place(context, 8192, &a));
  T3_TRY(place(context, 8192, &out));
  T3_TRY(multiply(context, out, a));
  T3_TRY(t3_free(context, a.address));
  return multiply(context, out, a);
}

t3_status fill_packets(t3_context* context, const t3_hal*) {
  t3_matrix out;
  T3_TRY(place(context, 8192, &out));
  out.address = 0;  // the ring of queue 0 begins there
  out.rows = 8;
  return t3_fill_zero(context, &out);
}

t3_status fill_beyond(t3_context* context, const t3_hal*) {
  t3_matrix out;
  T3_TRY(place(context, 4096, &out));
  return t3_fill_zero(context, &out);
}

t3_status program_reads_nobodys(t3_context* context, const t3_hal* hal) {
  t3_matrix a;
  T3_TRY(place(context, 256, &a));
  std::uint32_t value = 0;
  return hal->read_memory(hal->platform, a.address + 256, &value, sizeof value);
}

/// Runs one of them on GPU 0 and none on GPU 1.
template <t3_status (*part)(t3_context*, const t3_hal*)>
t3_status on_gpu_0(const t3_hal* hal, const t3_run*) {
  t3_context context;
  T3_TRY(t3_init(&context, hal));
  return hal->gpu == 0 ? part(&context, hal) : T3_OK;
}

/// GPU 0 writes to memory of GPU 1 that GPU 1 has not allocated.
t3_status write_to_peer(const t3_hal* hal, const t3_run*) {
  t3_context context;
  t3_matrix a;
  T3_TRY(t3_init(&context, hal));
  T3_TRY(place(&context, hal->gpu == 0 ? 8192 : 256, &a));
  T3_TRY(t3_barrier(&context));
  const std::uint32_t value = 1;
  if (hal->gpu != 0) return t3_barrier(&context);
  T3_TRY(hal->write_memory(hal->platform, t3_peer_address(&a, 1) + 256, &value, sizeof value));
  return t3_barrier(&context);
}

/// The same of a driver of one's own, which has allocated by itself.
t3_status write_beyond_declared(const t3_hal* hal, const t3_run*) {
  const std::uint64_t base = std::uint64_t{hal->gpu} << 44 | 1 << 20;
  const std::uint32_t value = 1;
  if (hal->gpu == 0) t3_declare_memory(hal, base, 4096, T3_MEMORY_ALLOCATED);
  T3_TRY(hal->write_memory(hal->platform, base + 4092, &value, sizeof value));
  return hal->write_memory(hal->platform, base + 4096, &value, sizeof value);
}

}  // namespace

TEST_CASE("what a program, kernel, DMA engine or peer accesses beside the allocations fails the run") {
  struct Fault {
    t3_program* program;
    const char *who, *rule;
  };
  const auto fault = GENERATE(
      Fault{on_gpu_0<kernel_reads_beyond>, "kernel gemm of GPU 0", "access beyond the end of a piece: load of"},
      Fault{on_gpu_0<kernel_writes_beyond>, "kernel gemm of GPU 0", "access beyond the end of a piece: store of"},
      Fault{on_gpu_0<kernel_reads_freed>, "kernel gemm of GPU 0", "access to freed memory: load of"},
      Fault{on_gpu_0<fill_packets>, "the DMA engine of GPU 0", "access to memory that the driver keeps: store of"},
      Fault{on_gpu_0<fill_beyond>, "the DMA engine of GPU 0", "access to memory that is not allocated: store of"},
      Fault{on_gpu_0<program_reads_nobodys>, "the program of GPU 0", "access to memory that is not allocated"},
      Fault{write_to_peer, "a peer of GPU 1", "access to memory that is not allocated: store of 4 bytes"},
      Fault{write_beyond_declared, "the program of GPU 0", "access to memory that is not allocated: write of 4"});
  const Settings settings = gemm(200, 264, 96) + Settings{on_small_system(), "gpus=2", "data=timing-only"};
  const Run without = Run::of_platform(configuration_of(settings + Settings{"check=none"}), {}, fault.program);
  const Run with = Run::of_platform(configuration_of(settings), {}, fault.program);
  CAPTURE(fault.rule, with.diagnosis(), without.diagnosis());
  REQUIRE(with.exit_code() == 1);
  REQUIRE_FALSE(with.diagnosis().empty());
  CHECK_THAT(with.diagnosis().front(),
             Catch::StartsWith(std::string("check memory: ") + fault.who + ": " + fault.rule));
  for (const std::string& line : without.diagnosis()) CHECK_THAT(line, !Catch::Contains("check memory"));
  CHECK(with.report().at("time_ns") == without.report().at("time_ns"));
}

TEST_CASE("check takes one name or a list, and a name that it does not know is refused with the ones that there are") {
  const auto checks = [](const char* setting) { return configuration_of({setting}).checks; };
  CHECK(configuration_of({}).checks.memory);
  CHECK_FALSE(checks("check=none").memory);
  CHECK(checks("check=all").memory);
  CHECK(checks("check=all").protocol);
  CHECK(checks("check=memory").memory);
  CHECK_FALSE(checks("check=memory").protocol);
  CHECK(checks(R"(check=["memory", "protocol"])").protocol);
  CHECK_FALSE(checks("check=[]").memory);
  REQUIRE_THROWS_WITH(
      configuration_of({"check=races!"}),
      Catch::EndsWith(
          "/check: found \"races!\" (--set), expected one of none, all, protocol, memory, races, or a list of names"));
  REQUIRE_THROWS_WITH(configuration_of({R"(check=["memory", "all"])"}),
                      Catch::EndsWith("/check/1: found \"all\" (--set), expected one of protocol, memory, races"));
}

}  // namespace t3vp::test::memory_check_test
