// A flush that a driver forgets shows in the data.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"
#include "run/buffer_access.h"

namespace t3vp::test::cache_test {

namespace {

/// Bytes of the GPU's output that its compute units see otherwise than memory holds them.
std::size_t unflushed(GpuPair& pair, std::size_t gpu) {
  const t3vp::processor::PublishedBuffer& out = pair.gpu(gpu).processor.buffers().back();
  std::vector<unsigned char> in_memory(std::size_t{out.columns} * bytes_of(out.element)), seen(in_memory.size());
  std::size_t count = 0;
  for (std::uint32_t row = 0; row < out.rows; ++row) {
    transfer(pair.gpu(gpu), tlm::TLM_READ_COMMAND, out, row, in_memory.data());
    t3vp::DebugMemory(pair.gpu(gpu))
        .read(t3vp::tensor_of(out), row, seen.data(), t3vp::GpuMemory::SeenBy::compute_units);
    for (std::size_t i = 0; i < seen.size(); ++i) count += seen[i] != in_memory[i] ? 1u : 0u;
  }
  return count;
}

}  // namespace

TEST_CASE("the sequential program hands over a right result") {
  GpuPair pair(t3_run_sequential, {}, t3_run_sequential);
  pair.run();
  pair.require_right_result();
  REQUIRE(unflushed(pair, 0) == 0);
}

TEST_CASE("without the flush at its end the result is wrong in memory, though its compute units see it right") {
  GpuPair pair(guest_without_flush, {}, guest_without_flush);
  pair.run();
  for (std::size_t g = 0; g < 2; ++g) {
    REQUIRE(pair.gpu(g).processor.status() == t3vp::Status::ok);
    REQUIRE(pair.wrong_elements(g) != 0);
    REQUIRE(unflushed(pair, g) >= pair.wrong_elements(g));
  }
}

TEST_CASE("a kernel uses the operand that it has in the cache, whatever the driver has written, until a flush") {
  GpuPair pair(guest_stale_operand);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of out", T3_OK},
                                {"ones in a", T3_OK},
                                {"kernel", T3_OK},
                                {"its end", T3_OK},
                                {"out is a 2 before a flush", T3_BAD_VALUE},
                                {"flush", T3_OK},
                                {"out is a 2 after it", T3_OK},
                                {"kernel", T3_OK},
                                {"its end", T3_OK},
                                {"twos in a", T3_OK},
                                {"kernel", T3_OK},
                                {"its end", T3_OK},
                                {"flush", T3_OK},
                                {"out is a 4 of an operand that was cached", T3_BAD_VALUE},
                                {"kernel", T3_OK},
                                {"its end", T3_OK},
                                {"flush", T3_OK},
                                {"out is a 4 of an operand that is read anew", T3_OK}}));
  pair.require_right_result();
}

TEST_CASE("a kernel's updates add to what is in the cache and later kernels read the sums") {
  GpuPair pair(guest_that_updates_what_is_cached);
  pair.run();
  std::vector<Told> told(5, {"memory", T3_OK});
  for (const char* what : {"ones in a", "ones in b", "gemm", "update", "kernel", "its end", "update", "kernel",
                           "its end", "flush", "out is 3 k", "a kernel has read 2 k", "and then 3 k"})
    told.push_back({what, T3_OK});
  REQUIRE(pair.told() == lines(told));
  pair.require_right_result();
}

}  // namespace t3vp::test::cache_test
