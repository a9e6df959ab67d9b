// A flush that a driver forgets shows in the data.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"
#include "platform/buffer_access.h"

using namespace t3vp::test;

TEST_CASE("the sequential program hands over a right result") {
  GpuPair pair(t3_sequential, {}, t3_sequential);
  pair.run();
  pair.require_right_result();
  REQUIRE(unflushed(pair.gpu(0), pair.gpu(0).processor.buffers().back()).elements == 0);
}

TEST_CASE("without the flush at its end the result is wrong in memory, though its compute units see it right") {
  GpuPair pair(guest_without_flush, {}, guest_without_flush);
  pair.run();
  for (std::size_t g = 0; g < 2; ++g) {
    REQUIRE(pair.gpu(g).processor.status() == t3vp::Status::ok);
    REQUIRE(pair.wrong_elements(g) != 0);
    REQUIRE(unflushed(pair.gpu(g), pair.gpu(g).processor.buffers().back()).elements >= pair.wrong_elements(g));
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
