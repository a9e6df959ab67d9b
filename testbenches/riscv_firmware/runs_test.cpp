// The programs that the platform comes with, on RISC-V cores.
#include <catch2/catch.hpp>

#include "riscv_firmware/image.h"

namespace t3vp::test::runs_test {

TEST_CASE("the first example runs on cores with no mismatch") {
  if (!has_image()) return;
  const Folder out;
  const Outcome outcome = run_program(
      {"run", config("runs/gemm-rs-4gpu.json").string(), "--set", "firmware=riscv", "--out", (out / "out").string()});
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("4194304 elements checked, 0 mismatches"));
}

}  // namespace t3vp::test::runs_test
