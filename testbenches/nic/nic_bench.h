// Two NICs with a memory each, joined by a wire; the test plays the driver of both.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/named_registers.h"
#include "data_path/random.h"
#include "data_path/target.h"
#include "nic/rdma_nic.h"
#include "nic/wire.h"
#include "protocol/element.h"

namespace t3vp::nic {

inline constexpr std::uint64_t reset_state = 0, init = 1, ready_to_receive = 2, ready_to_send = 3, error_state = 4;
inline constexpr std::uint64_t local_write = 1, remote_read = 2, remote_write = 4, remote_atomic = 8,
                               remote_accumulate = 16, all_rights = 31;

/// A NIC and its memory: 1 MiB at `base`. Queue pair q has its ring of 16 entries at 0x1000 q, its record at 0x800 of
/// there; completion queue c is at 0x80000 + 0x1000 c.
class Side {
 public:
  static constexpr std::uint64_t size = 1 << 20, data = 0xA0000;
  static constexpr std::uint32_t entries = 16;

  Nic nic;
  DataTarget memory;
  DataInitiator kernel, engine;
  sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> interrupt;
  NamedRegisters registers;
  std::vector<unsigned char> bytes = std::vector<unsigned char>(size);
  std::uint64_t base, refused = ~std::uint64_t{0};  ///< memory refuses what begins at `refused`
  bool adds = true;                                 ///< near-memory compute is on

  Side(std::uint16_t number, const NicParameters& parameters, bool functional, CheckedSockets& checks)
      : nic(fmt::format("nic{}", number).c_str(), parameters, functional, number),
        memory(fmt::format("memory{}", number).c_str()),
        kernel(fmt::format("kernel{}", number).c_str()),
        engine(fmt::format("engine{}", number).c_str()),
        interrupt(fmt::format("interrupt{}", number).c_str()),
        registers(fmt::format("registers{}", number).c_str(), nic.registers),
        base(address_map::on_gpu(number, 0)) {
    checks.join(nic.io.memory, memory.socket);
    checks.join_test(kernel.socket, nic.doorbells);
    checks.join_test(engine.socket, nic.engine);
    nic.interrupt.bind(interrupt);
    memory.capacity = size;
    memory.latency = 100'000;
    memory.serve = [this](tlm::tlm_generic_payload& access) { return serve(access); };
  }

  tlm::tlm_response_status update(tlm::tlm_generic_payload& access) {
    const DataExtension& extension = extension_of(access);
    if (!adds) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    const unsigned char* payload = access.get_data_ptr();
    for (std::uint32_t row = 0; payload != nullptr && row < extension.shape.rows; ++row) {
      add_elements(extension.element, &bytes.at(access.get_address() - base + row * extension.shape.stride), payload,
                   extension.shape.row_bytes / bytes_of(extension.element));
      payload += extension.shape.row_bytes;
    }
    return tlm::TLM_OK_RESPONSE;
  }
  tlm::tlm_response_status load_rows(tlm::tlm_generic_payload& access) {
    const Shape& shape = extension_of(access).shape;
    for (std::uint32_t row = 0; row < shape.rows; ++row)
      std::memcpy(access.get_data_ptr() + row * shape.row_bytes,
                  &bytes.at(access.get_address() - base + row * shape.stride), shape.row_bytes);
    return tlm::TLM_OK_RESPONSE;
  }
  tlm::tlm_response_status serve(tlm::tlm_generic_payload& access) {
    const std::uint64_t at = access.get_address() - base, length = access.get_data_length();
    unsigned char* const payload = access.get_data_ptr();
    if (at == refused || at + length > size) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (extension_of(access).operation == Operation::update) return update(access);
    if (extension_of(access).operation == Operation::fetch_add && !adds) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    if (payload == nullptr) return tlm::TLM_OK_RESPONSE;
    if (extension_of(access).shape.rows != 1) return load_rows(access);
    if (access.is_read())
      std::memcpy(payload, &bytes[at], length);
    else
      std::memcpy(&bytes[at], payload, length);
    if (extension_of(access).operation == Operation::fetch_add)
      t3_put_number(&bytes[at], 8, t3_number_at(payload, 8) + extension_of(access).addend);
    return tlm::TLM_OK_RESPONSE;
  }

  static std::uint64_t ring_of(std::uint32_t queue) { return 0x1000 * queue; }
  static std::uint64_t record_of(std::uint32_t queue) { return ring_of(queue) + 0x800; }
  static std::uint64_t completions_of(std::uint32_t queue) { return 0x80000 + 0x1000 * queue; }

  std::uint32_t region(std::uint64_t at, std::uint64_t length, std::uint64_t rights = all_rights) {
    registers.set("region_base", base + at);
    registers.set("region_bytes", length);
    registers.set("region_access", rights);
    registers.set("command", 1);
    return static_cast<std::uint32_t>(registers["key"]);
  }
  void withdraw(std::uint32_t key) {
    registers.set("key", key);
    registers.set("command", 2);
  }
  void completion_queue(std::uint32_t queue, std::uint32_t length = 64) {
    registers.set("completion_entries", length, queue);
    registers.set("completion_base", base + completions_of(queue), queue);
  }
  void describe_queue_pair(std::uint32_t queue, std::uint32_t completion, std::uint16_t peer,
                           std::uint32_t peer_queue) {
    registers.set("send_base", base + ring_of(queue), queue);
    registers.set("doorbell_record", base + record_of(queue), queue);
    registers.set("send_entries", entries, queue);
    registers.set("completion_queue", completion, queue);
    registers.set("peer", peer_queue | std::uint64_t{peer} << 16, queue);
  }
  tlm::tlm_response_status go_to(std::uint64_t state, std::uint32_t queue = 0) {
    if (state == reset_state) posted_[queue] = 0;
    return registers.set("state", state, queue);
  }
  std::uint64_t state(std::uint32_t queue = 0) { return registers.element("state", queue); }

  /// Writes the entry to its place; a doorbell is rung by ring().
  void post(t3_nic_work_entry head, const std::vector<unsigned char>& tail = {}, std::uint32_t queue = 0) {
    unsigned char* const place = &bytes[ring_of(queue) + posted_[queue] % entries * 64];
    std::memset(place, 0, 64);
    t3_nic_work_entry_to(&head, place);
    if (!tail.empty()) std::memcpy(place + T3_NIC_WORK_ENTRY_BYTES, tail.data(), tail.size());
    ++posted_[queue];
  }
  tlm::tlm_response_status ring(std::uint32_t queue = 0) {
    t3_put_number(&bytes[record_of(queue)], 4, posted_[queue]);
    return registers.set("doorbell", posted_[queue], queue);
  }
  /// Returns the address at which a kernel rings.
  std::uint64_t doorbell_of(std::uint32_t queue) const {
    using Registers = registers::Nic;
    return base + address_map::block_base(address_map::Block::nic) + Registers::doorbell_offset +
           Registers::doorbell_stride * queue;
  }
  /// As a kernel does, whose store arrives after `delay`. The number of its answer.
  std::size_t ring_by_kernel(std::uint32_t queue = 0, Picoseconds delay = 0) {
    t3_put_number(&bytes[record_of(queue)], 4, posted_[queue]);
    DataAccess store;
    store.operation = Operation::store;
    store.address = doorbell_of(queue);
    store.shape = {1, 4, 0};
    store.data.resize(4);
    t3_put_number(store.data.data(), 4, posted_[queue]);
    return kernel.send(store, delay);
  }
  /// The entry that was posted last has a fence.
  void fence_last(std::uint32_t queue) {
    bytes[ring_of(queue) + (posted_[queue] - 1) % entries * 64 + 1] |= T3_NIC_WORK_ENTRY_FLAGS_FENCE;
  }

  t3_nic_work_entry head(NicOpcode opcode, std::uint64_t remote, std::uint32_t key, std::uint32_t queue = 0) const {
    t3_nic_work_entry made{};
    made.opcode = static_cast<std::uint8_t>(opcode);
    made.flags = T3_NIC_WORK_ENTRY_FLAGS_SIGNALED;
    made.index = static_cast<std::uint16_t>(posted_[queue]);
    made.queue_pair = queue;
    made.remote_address = remote;
    made.remote_key = key;
    return made;
  }
  static std::vector<unsigned char> tail_of(const std::vector<t3_nic_segment>& segments) {
    std::vector<unsigned char> tail(16 * segments.size());
    for (std::size_t i = 0; i < segments.size(); ++i) t3_nic_segment_to(&segments[i], &tail[16 * i]);
    return tail;
  }
  void post_inline(std::uint64_t remote, std::uint32_t key, const std::vector<unsigned char>& content,
                   std::uint32_t queue = 0, bool signaled = true, NicOpcode opcode = NicOpcode::write) {
    t3_nic_work_entry made = head(opcode, remote, key, queue);
    made.flags = static_cast<std::uint8_t>(T3_NIC_WORK_ENTRY_FLAGS_INLINE | (signaled ? 1 : 0));
    made.inline_bytes = static_cast<std::uint8_t>(content.size());
    post(made, content, queue);
  }
  void post_segments(NicOpcode opcode, std::uint64_t remote, std::uint32_t key,
                     const std::vector<t3_nic_segment>& segments, std::uint32_t queue = 0, bool fence = false) {
    t3_nic_work_entry made = head(opcode, remote, key, queue);
    made.segments = static_cast<std::uint8_t>(segments.size());
    if (fence) made.flags |= T3_NIC_WORK_ENTRY_FLAGS_FENCE;
    post(made, tail_of(segments), queue);
  }
  void post_add(std::uint64_t remote, std::uint32_t key, std::uint64_t addend, const t3_nic_segment& result,
                std::uint32_t queue = 0) {
    t3_nic_work_entry made = head(NicOpcode::fetch_add, remote, key, queue);
    made.segments = 1;
    std::vector<unsigned char> tail(32);
    t3_put_number(tail.data(), 8, addend);
    t3_nic_segment_to(&result, &tail[16]);
    post(made, tail, queue);
  }

  void post_accumulate(std::uint64_t remote, std::uint32_t key, const t3_nic_segment& segment, const t3_nic_tile& tile,
                       std::uint32_t queue = 0) {
    t3_nic_work_entry made = head(NicOpcode::accumulate, remote, key, queue);
    made.segments = 1;
    std::vector<unsigned char> tail = tail_of({segment, {}});
    t3_nic_tile_to(&tile, &tail[16]);
    post(made, tail, queue);
  }

  /// Entries of a completion queue with the phase of their round, from the first on that has not been taken.
  std::vector<t3_nic_completion> completions(std::uint32_t queue = 0, std::uint32_t length = 64) {
    std::vector<t3_nic_completion> found;
    for (;; ++taken_[queue]) {
      const std::uint32_t place = taken_[queue] % length;
      const t3_nic_completion entry = t3_nic_completion_from(&bytes[completions_of(queue) + 32 * place]);
      if (entry.phase != (taken_[queue] / length % 2 == 0 ? 1 : 0) || found.size() == length) return found;
      found.push_back(entry);
    }
  }
  bool has_reported(const std::string& text) const {
    return std::any_of(registers.reported.begin(), registers.reported.end(),
                       [&](const ErrorRecord& record) { return record.text.find(text) != std::string::npos; });
  }
  std::vector<unsigned char> content(std::uint64_t at, std::uint64_t length) const {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + length)};
  }
  void fill(std::uint64_t at, const std::vector<unsigned char>& with) {
    std::copy(with.begin(), with.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  std::vector<std::uint32_t> posted_ = std::vector<std::uint32_t>(64), taken_ = std::vector<std::uint32_t>(32);
};

struct NicBench {
  NicParameters parameters;
  WireParameters wire_parameters;
  CheckedSockets checks;
  Wire wire;
  Side a, b;

  explicit NicBench(const NicParameters& p = {}, bool functional = true, const WireParameters& w = {})
      : parameters(p),
        wire_parameters(w),
        wire("wire", wire_parameters),
        a(0, p, functional, checks),
        b(1, p, functional, checks) {
    for (Side* side : {&a, &b}) {
      wire.receivers.bind(side->nic);
      side->nic.wire.bind(wire);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (Side* side : {&a, &b}) side->completion_queue(0);
  }

  /// Queue pair `queue` of both sides, ready to send, completions in queue 0.
  void connect(std::uint32_t queue = 0, std::uint64_t to = ready_to_send) {
    a.describe_queue_pair(queue, 0, 1, queue);
    b.describe_queue_pair(queue, 0, 0, queue);
    for (Side* side : {&a, &b})
      for (std::uint64_t state = init; state <= to; ++state) REQUIRE(side->go_to(state, queue) == tlm::TLM_OK_RESPONSE);
  }
  static void settle() { sc_core::sc_start(); }
  static void run_for(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }
};

inline NicSyndrome syndrome_of(const t3_nic_completion& entry) { return static_cast<NicSyndrome>(entry.syndrome); }

}  // namespace t3vp::nic
