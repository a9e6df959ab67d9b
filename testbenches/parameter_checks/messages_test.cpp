#include <catch2/catch.hpp>

#include "cache/last_level_cache.h"
#include "dma/dma_engine.h"
#include "dram/channel.h"
#include "interconnect/chunk_mirror.h"
#include "interconnect/link.h"
#include "interconnect/switch.h"
#include "interconnect/torus_mirror.h"
#include "memory/memory_controller.h"
#include "nic/rdma_nic.h"
#include "parameter_checks/child.h"
#include "processor/control_bus.h"
#include "processor/error_log.h"
#include "processor/system.h"
#include "riscv/core.h"

namespace t3vp {
namespace {

std::string text_of(const std::function<void()>& work) { return run_in_child(work).text; }

}  // namespace

TEST_CASE("an error names block, parameter, value and what was expected") {
  CHECK(text_of([] {
          cache::CacheParameters parameters;
          parameters.banks = 0;
          cache::LastLevelCache cache("cache", parameters, 0, 0);
        }) == "cache: banks is 0, expected 1 to 65536, a power of two");
  CHECK(text_of([] {
          cache::CacheParameters parameters;
          parameters.line_bytes = 96;
          cache::LastLevelCache cache("cache", parameters, 0, 0);
        }) == "cache: line_bytes is 96, expected 32 to 1024, a power of two");
  CHECK(text_of([] {
          memory::MemoryParameters parameters;
          parameters.channels = 0;
          memory::MemoryController controller("controller", parameters, {}, false, 0, nullptr);
        }) == "controller: channels is 0, expected 1 to 256");
  CHECK(text_of([] {
          memory::TrackerParameters tracker;
          tracker.ways = 0;
          memory::MemoryController controller("controller", {}, tracker, false, 0, nullptr);
        }) == "controller.tracker: ways is 0, expected 1 to 256");
  CHECK(text_of([] {
          interconnect::LinkParameters parameters;
          parameters.bandwidth_GBps = 0;
          interconnect::Link link("link", parameters, 0, 1, nullptr);
        }) == "link: bandwidth_GBps is 0, expected 0.001 to 100000");
  CHECK(text_of([] {
          dram::MemorySpec spec;
          spec.timing.BURST = 0;
          dram::Channel channel(spec);
        }) == "DRAM channel: timing.BURST is 0, expected 1 to 100000");
  CHECK(text_of([] {
          dram::MemorySpec spec;
          spec.timing.RC = 40;
          dram::Channel channel(spec);
        }) == "DRAM channel: timing.RC is 40, expected at least 47 (RAS + RP)");
  CHECK(text_of([] {
          dram::MemorySpec spec;
          spec.address_map = "none";
          dram::Channel channel(spec);
        }) ==
        "DRAM channel: address_map is none, expected a map of the geometry (\"none\" is not bgint, accel, rocol or "
        "a list of bits)");
  CHECK(text_of([] {
          memory::MemoryParameters parameters;
          parameters.mca_bands = {3, 2, 1};
          memory::MemoryController controller("controller", parameters, {}, false, 0, nullptr);
        }) == "controller: mca_bands[1] is 2, expected no less than the band before");
  CHECK(text_of([] {
          nic::NicParameters parameters;
          parameters.payload_in_flight = 1024;
          nic::Nic nic("nic", parameters, false, 0, nullptr);
        }) == "nic: payload_in_flight is 1024, expected at least 4 (mtu_bytes in KiB)");
}

TEST_CASE("what is given as a number of its own has the range of its description") {
  CHECK(text_of([] { processor::ErrorLog log("log", 0); }) == "log: error_log_entries is 0, expected 1 to 65536");
  CHECK(text_of([] { processor::System system("system", 0, 1, 1 << 20, 0); }) ==
        "system: reset_ns is 0, expected 1 to 1000000");
  CHECK(text_of([] { processor::ControlBus bus("bus", 0, never); }) ==
        "bus: register_access is 18446744073709551615, expected 0 to 1000000000000 ps");
  CHECK(text_of([] { interconnect::ChunkMirror mirror("mirror", {}, 0, 0); }) ==
        "mirror: dimensions is 0, expected 1 or more GPUs in each");
  CHECK(text_of([] {
          interconnect::TorusMirror mirror("mirror", {2, 0}, {});
        }) == "mirror: dimensions is 0, expected 1 or more GPUs in each");
  CHECK(text_of([] {
          riscv::CoreParameters parameters;
          parameters.clock_period = sc_core::SC_ZERO_TIME;
          riscv::Core core("core", parameters);
        }) == "core: clock_period is 0 s, expected more than 0 s");
  CHECK(text_of([] { interconnect::Switch one("switch", never, {}, {}, 0, false); }) ==
        "switch: latency is 18446744073709551615, expected 0 to 1000000000000 ps");
}

}  // namespace t3vp
