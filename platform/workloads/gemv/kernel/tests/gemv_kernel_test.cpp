// The GEMV kernel on one GPU, with expected results computed manually.
#include "compute/cluster_bench.h"
#include "protocol/element.h"
#include "t3/arguments/gemv.h"

namespace t3vp::test::gemv_kernel_test {

using namespace compute;

namespace {

constexpr std::uint64_t matrix_at = 0x10000, vector_at = 0x20000, out_at = 0x30000;

void put(ClusterBench& bench, std::uint64_t address, ElementType element, const std::vector<float>& numbers) {
  narrow_elements(element, numbers.data(), bench.memory.at(address), numbers.size());
}

std::vector<float> take(ClusterBench& bench, std::uint64_t address, ElementType element, std::size_t count) {
  std::vector<float> numbers(count);
  widen_elements(element, bench.memory.at(address), numbers.data(), count);
  return numbers;
}

/// All numbers are exact in every element type. The last of the slices of two rows has one. A block of `block_bytes`
/// holds so many columns of a slice.
void require_result(ElementType element, std::uint32_t workgroups, std::uint32_t block_bytes, std::uint32_t slice = 2) {
  ComputeParameters parameters = ClusterBench::small();
  parameters.kernels.rows.block_bytes = block_bytes;
  ClusterBench bench(parameters);
  put(bench, matrix_at, element, {1,    2,     3,   4,    //
                                  5,    6,     7,   8,    //
                                  -1,   0,     2,   0.5,  //
                                  0.25, -0.25, 1,   -4,   //
                                  10,   20,    -30, 0});
  put(bench, vector_at, element, {2, -1, 0.5, 4});
  put(bench, out_at, element, {77, 77, 77, 77, 77, 77});  // the last one is behind the results
  t3_gemv_arguments arguments{};
  arguments.matrix = matrix_at;
  arguments.vector = vector_at;
  arguments.out = out_at;
  arguments.rows = 5;
  arguments.columns = 4;
  arguments.slice = slice;
  arguments.element = static_cast<std::uint8_t>(element);
  t3_kernel_packet header = header_of(t3_kernel_handle("gemv"));
  header.workgroups = workgroups;
  bench.run(encoded(header, arguments, t3_gemv_arguments_to, T3_GEMV_ARGUMENTS_BYTES));
  REQUIRE(bench.gpu().error() == Status::ok);
  const std::vector<float> expected{17.5F,    // 2 - 2 + 1.5 + 16
                                    39.5F,    // 10 - 6 + 3.5 + 32
                                    1,        // -2 + 0 + 1 + 2
                                    -14.75F,  // 0.5 + 0.25 + 0.5 - 16
                                    -15,      // 20 - 20 - 15 + 0
                                    77};
  CHECK(take(bench, out_at, element, 6) == expected);
}

}  // namespace

TEST_CASE("a GEMV of fp32 by one workgroup is what it is by hand") { require_result(ElementType::fp32, 1, 4096); }
TEST_CASE("a GEMV of fp16 by as many workgroups as slices is what it is by hand") {
  require_result(ElementType::fp16, 3, 4096);
}
TEST_CASE("a GEMV whose rows come in pieces of three columns and one is what it is by hand") {
  require_result(ElementType::fp16, 1, 32, 5);
}
TEST_CASE("a GEMV whose rows come in pieces of a column is what it is by hand") {
  require_result(ElementType::fp32, 1, 32, 5);
}

}  // namespace t3vp::test::gemv_kernel_test
