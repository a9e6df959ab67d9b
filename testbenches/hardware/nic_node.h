// Two GPUs with NICs and without a link, whose programs drive the NICs through the command processors' buses.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "node/node.h"
#include "system/topology.h"
#include "t3/little_endian.h"
#include "t3/nic_completion.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"

namespace t3vp::test {

inline const t3_kernel* const no_kernels[] = {nullptr};

/// What a program does with its GPU's NIC: one queue pair and one completion queue at fixed places.
class NicDriver {
 public:
  static constexpr std::uint64_t ring = 0x10000, record = 0x12000, completions = 0x14000, data = 0x20000;
  static constexpr std::uint32_t entries = 16, region_bytes = 0x100000;
  static constexpr std::uint64_t all_rights = 15, ready_to_send = 3;

  explicit NicDriver(processor::CommandProcessor& processor) : p_(processor) {}

  std::uint64_t here(std::uint64_t local) const { return address_map::on_gpu(p_.gpu(), local); }
  std::uint64_t address_of(const std::string& name, std::uint64_t i = 0) const {
    const RegisterDescription& d = find(name);
    return here(address_map::block_base(address_map::Block::nic) + d.offset + i * d.stride);
  }
  Status set(const std::string& name, std::uint64_t value, std::uint64_t i = 0) {
    const std::uint64_t address = address_of(name, i);
    return find(name).bytes == 8 ? p_.write64(address, value) : p_.write32(address, static_cast<std::uint32_t>(value));
  }
  std::uint64_t get(const std::string& name, std::uint64_t i = 0) {
    const std::uint64_t address = address_of(name, i);
    std::uint64_t wide = 0;
    std::uint32_t narrow = 0;
    const Status status = find(name).bytes == 8 ? p_.read64(address, wide) : p_.read32(address, narrow);
    REQUIRE(status == Status::ok);
    return find(name).bytes == 8 ? wide : narrow;
  }

  /// The key of the memory that begins at `data`.
  std::uint32_t key_of_data() {
    set("region_base", here(data));
    set("region_bytes", region_bytes);
    set("region_access", all_rights);
    set("command", 1);
    REQUIRE((get("status") & 0xFF) == 0);
    return static_cast<std::uint32_t>(get("key"));
  }
  /// Queue pair 0, with completion queue 0, to the peer's queue pair 0.
  void connect(std::uint16_t peer) {
    posted_ = 0;
    taken_ = 0;
    const std::vector<unsigned char> zeros(32 * entries);
    p_.write_memory(here(completions), zeros.data(), static_cast<std::uint32_t>(zeros.size()));
    set("completion_entries", entries);
    set("completion_base", here(completions));
    set("send_base", here(ring));
    set("doorbell_record", here(record));
    set("send_entries", entries);
    set("peer", std::uint64_t{peer} << 16);
    for (std::uint64_t state = 1; state <= ready_to_send; ++state) REQUIRE(set("state", state) == Status::ok);
  }

  /// A signaled entry with one local segment, not yet announced.
  void post_write(std::uint64_t from, std::uint64_t to, std::uint32_t bytes, std::uint32_t key, std::uint32_t remote) {
    t3_nic_work_entry entry = head(to, remote);
    entry.segments = 1;
    const t3_nic_segment segment{from, key, bytes};
    std::vector<unsigned char> content(64);
    t3_nic_work_entry_to(&entry, content.data());
    t3_nic_segment_to(&segment, &content[T3_NIC_WORK_ENTRY_BYTES]);
    put(content);
  }
  void post_inline(std::uint64_t to, std::uint32_t remote, const std::vector<unsigned char>& bytes) {
    t3_nic_work_entry entry = head(to, remote);
    entry.flags |= T3_NIC_WORK_ENTRY_FLAGS_INLINE;
    entry.inline_bytes = static_cast<std::uint8_t>(bytes.size());
    std::vector<unsigned char> content(64);
    t3_nic_work_entry_to(&entry, content.data());
    std::copy(bytes.begin(), bytes.end(), content.begin() + T3_NIC_WORK_ENTRY_BYTES);
    put(content);
  }
  /// The record is in memory then; who rings is the caller's business.
  std::uint32_t announce() {
    unsigned char count[4];
    t3_put_number(count, 4, posted_);
    p_.write_memory(here(record), count, 4);
    p_.order_writes();
    return posted_;
  }
  Status ring_doorbell() { return set("doorbell", announce()); }

  /// Waits for the next entry of the completion queue; none within `us`: phase 2.
  t3_nic_completion await_completion(std::uint32_t us = 1000) {
    const std::uint8_t phase = taken_ / entries % 2 == 0 ? 1 : 0;
    for (std::uint32_t tried = 0; tried < us; ++tried, p_.wait_ns(1000)) {
      unsigned char bytes[32];
      REQUIRE(p_.read_memory(here(completions + 32 * (taken_ % entries)), bytes, 32) == Status::ok);
      const t3_nic_completion entry = t3_nic_completion_from(bytes);
      if (entry.phase != phase) continue;
      set("consumed", ++taken_);
      return entry;
    }
    t3_nic_completion none{};
    none.phase = 2;
    return none;
  }

  std::vector<unsigned char> read(std::uint64_t local, std::uint32_t bytes) {
    std::vector<unsigned char> content(bytes);
    REQUIRE(p_.read_memory(here(local), content.data(), bytes) == Status::ok);
    return content;
  }
  void write(std::uint64_t local, const std::vector<unsigned char>& content) {
    REQUIRE(p_.write_memory(here(local), content.data(), static_cast<std::uint32_t>(content.size())) == Status::ok);
    p_.order_writes();
  }
  processor::CommandProcessor& processor() { return p_; }

 private:
  static const RegisterDescription& find(const std::string& name) {
    for (const RegisterDescription& d : registers::descriptions::nic.registers)
      if (name == d.name) return d;
    throw std::invalid_argument("no register " + name);
  }
  t3_nic_work_entry head(std::uint64_t to, std::uint32_t remote) const {
    t3_nic_work_entry entry{};
    entry.opcode = static_cast<std::uint8_t>(NicOpcode::write);
    entry.flags = T3_NIC_WORK_ENTRY_FLAGS_SIGNALED;
    entry.index = static_cast<std::uint16_t>(posted_);
    entry.remote_address = to;
    entry.remote_key = remote;
    return entry;
  }
  void put(const std::vector<unsigned char>& content) {
    p_.write_memory(here(ring + 64 * (posted_++ % entries)), content.data(), 64);
  }

  processor::CommandProcessor& p_;
  std::uint32_t posted_ = 0, taken_ = 0;
};

inline NodeParameters two_gpus(bool functional = true, bool with_nics = true) {
  NodeParameters parameters;
  parameters.options = {functional, true};
  for (std::uint16_t gpu = 0; gpu < 2; ++gpu) {
    Placement placement;
    placement.gpu = gpu;
    placement.gpus = 2;
    placement.route.resize(2);
    parameters.fabric.gpus.push_back(placement);
    GpuParameters one;
    one.memory.channels = 4;
    one.memory.capacity_bytes = std::uint64_t{64} << 20;
    if (with_nics) one.nic = nic::NicParameters();
    parameters.gpus.push_back(one);
  }
  return parameters;
}

/// GPU 0 is a, which sends; GPU 1 is b. The programs meet where both have said so.
class NicNode {
 public:
  using Program = std::function<void(NicDriver&)>;
  Node node;

  explicit NicNode(const NodeParameters& parameters = two_gpus()) : node("node", parameters, no_kernels, nullptr) {}
  ~NicNode() {
    for (const Violations* found : node.violations())
      for (const Violation& violation : found->list()) FAIL_CHECK(violation.text());
  }

  Gpu& a() { return *node.gpus()[0]; }
  Gpu& b() { return *node.gpus()[1]; }
  void run(Program of_a, Program of_b) {
    const Program programs[] = {std::move(of_a), std::move(of_b)};
    for (std::size_t g = 0; g < 2; ++g)
      node.gpus()[g]->native().run([program = programs[g]](processor::CommandProcessor& p) {
        NicDriver driver(p);
        program(driver);
        return Status::ok;
      });
    sc_core::sc_start();
    for (const auto& gpu : node.gpus()) {
      REQUIRE(gpu->processor.finished());
      REQUIRE(gpu->processor.status() == Status::ok);
    }
  }
};

inline bool has_logged(Gpu& gpu, const std::string& text) {
  for (const auto& entry : gpu.error_log.records())
    if (entry.record.text.find(text) != std::string::npos) return true;
  return false;
}

/// Sends an access of compute units to the output map, as a kernel does, and waits for its end.
inline tlm::tlm_response_status access_as_kernel(Gpu& gpu, Operation operation, std::uint64_t address,
                                                 std::vector<unsigned char>& data, bool cached = false) {
  tlm::tlm_generic_payload payload;
  DataExtension extension;
  extension.operation = operation;
  extension.cached = cached;
  extension.shape = {1, static_cast<std::uint32_t>(data.size()), 0};
  payload.set_command(is_read(operation) ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(data.data());
  payload.set_data_length(static_cast<unsigned>(data.size()));
  payload.set_streaming_width(static_cast<unsigned>(data.size()));
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.set_extension(&extension);
  sc_core::sc_time delay;
  gpu.compute.memory->b_transport(payload, delay);
  sc_core::wait(delay);
  payload.clear_extension(&extension);
  return payload.get_response_status();
}

}  // namespace t3vp::test
