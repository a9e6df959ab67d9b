// A GPU that has nothing but a guest's kernel.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "gemm_case.h"
#include "guest_kernels.h"

namespace t3vp::test {

using namespace compute;

/// The kernel takes a GEMM's operands.
struct GuestBench {
  t3_kernel kernel;
  const t3_kernel* kernels[2] = {&kernel, nullptr};
  ClusterBench bench;
  GemmCase gemm;

  explicit GuestBench(void (*run)(t3_wave*), bool functional = true)
      : kernel(guest_kernel(run, &guest_plan)),
        bench(ClusterBench::small(), functional, 1, 2, kernels),
        gemm(bench.parameters, 32, 8, 8, ElementType::fp32) {
    gemm.packet.header.kernel = t3_kernel_handle(kernel.name);
    gemm.packet.header.workgroups = 0;
  }

  float out(std::uint32_t row, std::uint32_t column) {
    float value = 0;
    std::memcpy(&value, bench.memory.at(gemm.packet.out + row * 32 + column * 4), sizeof value);
    return value;
  }
  /// The only report since the last call.
  std::string report() {
    const auto& reported = bench.gpu().registers.reported;
    REQUIRE(reported.size() == told_ + 1);
    return reported[told_++].text;
  }

 private:
  std::size_t told_ = 0;
};

}  // namespace t3vp::test
