// Keys of the pooling kernel beside its loads: instructions and time of a row and a bag, row numbers in steps.
#include <catch2/catch.hpp>

#include "system/kernel_runs.h"

namespace t3vp::test::pooling_kernel_test {
namespace {

/// A table of 10,000 rows on each of two GPUs, which pool a bag of the table for each sample of the batch.
double pooling_time(std::uint32_t batch, std::uint32_t dimension, std::uint32_t pooling, const Settings& kernel) {
  const nlohmann::json shape = {
      {"global_batch", batch}, {"tables_per_gpu", 1}, {"dimension", dimension}, {"pooling", pooling}, {"rows", 10'000}};
  return right_run(kernel_run("bulk", 2, {{"embedding", shape}}) + Settings{"data=timing-only"} + kernel)
      .time("pooling");
}

Settings key(const char* name, std::uint32_t value) {
  return {std::string("system.kernels.embedding.") + name + "=" + std::to_string(value)};
}

}  // namespace

TEST_CASE("row_ns adds its time to each row of a bag, bag_ns to the bag, and row_instructions take the lanes") {
  const auto time = [](const Settings& kernel) { return pooling_time(2, 256, 32, key("row_ns", 1000) + kernel); };
  const double without = time({});
  CHECK(time(key("row_ns", 3000)) - without == Approx(32 * 2000.0).epsilon(1e-3));
  CHECK(time(key("bag_ns", 5000)) - without == Approx(5000.0).epsilon(0.02));
  CHECK(time(key("row_instructions", 8)) - without == Approx(32 * 8 * 256 / 128.0).epsilon(0.02));
}

TEST_CASE("instructions of all bags on a compute unit take turns on its lanes, and the time after them does not") {
  const auto gain = [](const Settings& kernel) {
    return pooling_time(64, 256, 32, kernel + key("workgroups_per_cu", 1)) /
           pooling_time(64, 256, 32, kernel + key("workgroups_per_cu", 8));
  };
  CHECK(gain(key("row_instructions", 400)) < 1.25);
  CHECK(gain(key("row_ns", 5000)) > 6);
}

TEST_CASE("row numbers that are checked a few at a time are loaded one load after the other") {
  const auto time = [](std::uint32_t checked) { return pooling_time(2, 64, 64, key("checked_indices", checked)); };
  CHECK(time(0) == time(64));
  CHECK(time(0) < time(32));
  CHECK(time(32) < time(16));
}

}  // namespace t3vp::test::pooling_kernel_test
