// GPU 1 of two accesses its registers, and a test reads its error log. It is GPU 1, since its addresses differ from
// those of all others.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test {

constexpr std::uint64_t own = 1;  ///< the GPU's number
constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 30;

inline std::uint64_t at(address_map::Block block, std::uint64_t offset) {
  return address_map::on_gpu(own, address_map::block_base(block) + offset);
}

struct Staged {
  std::uint64_t offset;
  std::uint32_t bytes;
  std::uint64_t value;
};

/// So that every block of the list is there.
constexpr const char* with_nics =
    R"(system.nic={"messages_per_us": 215, "io_latency_ns": 200, "io_GBps": 26, "entry_fetches": 128,
                   "payload_in_flight_KiB": 64, "mtu_bytes": 4096, "wire_GBps": 25, "wire_latency_ns": 700,
                   "writes_invalidate": true})";

constexpr const char* with_endpoint =
    R"(system.endpoint={"sram_KiB": 64, "message_bytes": 512, "rings": 4, "adder_GBps": 320, "sram_GBps": 1280,
                        "latency_ns": 71.4})";

/// With this index the number of entries that a set needs can be counted manually.
constexpr const char* by_workgroup = "system.tracker.index=workgroup";

class Prober {
 public:
  /// `probe` runs as the firmware of GPU 1.
  explicit Prober(const std::function<void(Prober&)>& probe)
      : pair_(idle, {with_nics, with_endpoint, by_workgroup}, idle) {
    processor::CommandProcessor& processor = pair_.gpu(own).native();
    processor.run([&, this](processor::CommandProcessor& p) {
      p_ = &p;
      probe(*this);
      return Status::ok;
    });
    pair_.run();
    REQUIRE(processor.finished());
  }

  Status write(std::uint64_t address, std::uint32_t bytes, std::uint64_t value) {
    return bytes == 4 ? p_->write32(address, static_cast<std::uint32_t>(value)) : p_->write64(address, value);
  }
  Status read(std::uint64_t address, std::uint32_t bytes) {
    std::uint32_t narrow = 0;
    std::uint64_t wide = 0;
    return bytes == 4 ? p_->read32(address, narrow) : p_->read64(address, wide);
  }
  processor::CommandProcessor& processor() { return *p_; }

  /// The only entry of the log since the last call.
  processor::ErrorLog::Entry told() {
    const processor::ErrorLog& log = pair_.gpu(own).error_log;
    REQUIRE(log.reported() == ++entries_);
    REQUIRE(log.records().size() == entries_);
    return log.records().back();
  }
  void require_told(const char* block, Status code, std::uint64_t address, const std::string& text) {
    const processor::ErrorLog::Entry entry = told();
    CHECK(entry.block == block);
    CHECK(entry.record.code == static_cast<std::uint32_t>(code));
    CHECK(entry.record.address == address);
    CHECK(entry.record.text == text);
  }
  void require_nothing_told() { REQUIRE(pair_.gpu(own).error_log.reported() == entries_); }

 private:
  static t3_status idle(const t3_hal*, const t3_run*) { return T3_OK; }

  GpuPair pair_;
  processor::CommandProcessor* p_ = nullptr;
  std::uint64_t entries_ = 0;
};

}  // namespace t3vp::test
