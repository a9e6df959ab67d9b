// The reset register: every block as it was, memory as it is.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "driver_errors/gpu_pair.h"
#include "guests/native_hal.h"
#include "registers/catalogue.h"
#include "t3/registers/system.h"

namespace t3vp::test::reset_test {

namespace {

/// All registers of a GPU that can be read, without side effects.
std::map<std::string, std::uint64_t> registers_of(processor::CommandProcessor& processor) {
  std::map<std::string, std::uint64_t> values;
  for (const registers::CatalogueEntry& entry : registers::catalogue) {
    const std::uint64_t base = address_map::on_gpu(processor.gpu(), address_map::block_base(entry.block));
    for (const RegisterDescription& r : entry.description.registers)
      for (std::uint32_t i = 0; i < r.count; ++i) {
        std::uint64_t value = 0;
        tlm::tlm_generic_payload payload;
        payload.set_command(tlm::TLM_READ_COMMAND);
        payload.set_address(base + r.offset + i * r.stride);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(r.bytes);
        processor.socket->transport_dbg(payload);
        values[std::string(entry.description.name) + "." + r.name + "[" + std::to_string(i) + "]"] = value;
      }
  }
  return values;
}

/// Those of the processor go on, since it is what asks.
std::map<std::string, double> statistics_of(const Gpu& gpu) {
  std::map<std::string, double> values;
  gpu.visit_statistics([&](const std::string& name, const std::string&, const std::string&, double value) {
    if (name.rfind("processor.", 0) != 0) values[name] = value;
  });
  return values;
}

void reset(processor::CommandProcessor& processor) {
  const std::uint64_t block = address_map::on_gpu(processor.gpu(), address_map::block_base(address_map::Block::system));
  REQUIRE(processor.write32(block + T3_SYSTEM_RESET_OFFSET, T3_SYSTEM_RESET_KEY_ALL) == Status::ok);
  processor.wait_ns(10);  // the line is high for one
}

}  // namespace

TEST_CASE("a reset empties tables and logs") {
  GpuPair pair(guest_reset, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map", T3_OK},
                                {"remote_map again", T3_OVERLAP},
                                {"dma_map", T3_OK},
                                {"output map", T3_BUSY},
                                {"tracker", T3_BUSY},
                                {"dma", T3_BUSY},
                                {"error log", T3_BUSY},
                                {"reset", T3_OK},
                                {"output map", T3_OK},
                                {"tracker", T3_OK},
                                {"dma", T3_OK},
                                {"error log", T3_OK},
                                {"driver", T3_OK}}));
  pair.require_right_result();
}

TEST_CASE("a reset ends a kernel that runs and one that waits, and nothing of them shows after it") {
  GpuPair pair(guest_reset_under_way, {}, guest_late_after_reset);
  pair.run();
  std::vector<Told> expected = {{"memory of a", T3_OK}, {"memory of b", T3_OK}};
  for (const char* kernel : {"gemm", "ring kernel"})
    for (const char* told : {kernel, "reset", "driver at once", "read completed", "nothing has completed",
                             "nothing has failed", "output map", "tracker", "dma", "error log"})
      expected.push_back({told, T3_OK});
  REQUIRE(pair.told() == lines(expected));
  pair.require_right_result();
}

TEST_CASE("after a whole job a reset leaves every register as it was before, and every statistic as the job left it") {
  GpuPair pair(guest_register_misuse);
  std::map<std::string, std::uint64_t> before, after;
  std::map<std::string, double> of_job, of_run;
  const ProgramRun given = pair.given();
  const t3_run run = given.view();
  pair.gpu(0).native().run([&](processor::CommandProcessor& processor) {
    before = registers_of(processor);
    Arguments none;
    NativePlatform platform{processor, none};
    const t3_hal hal = native_hal(platform);
    const auto status = static_cast<Status>(guest_register_misuse(&hal, &run));
    processor.wait_ns(100000);  // everything has come to rest
    of_job = statistics_of(pair.gpu(0));
    reset(processor);
    after = registers_of(processor);
    of_run = statistics_of(pair.gpu(0));
    return status;
  });
  pair.run();
  pair.require_right_result();
  REQUIRE(before.size() > 1000);
  for (const auto& [name, value] : before) {
    INFO(name);
    CHECK(after[name] == value);
  }
  for (const char* group : {"compute.", "output_map.", "cache.", "dram.", "tracker."})
    CHECK(std::any_of(of_job.begin(), of_job.end(), [&](const auto& statistic) {
      return statistic.first.rfind(group, 0) == 0 && statistic.second != 0;
    }));
  for (const auto& [name, value] : of_job) {
    INFO(name);
    CHECK(of_run[name] == value);
  }
}

}  // namespace t3vp::test::reset_test
