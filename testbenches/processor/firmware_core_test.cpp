// A RISC-V core in the place of the command processor: its address space, its own devices, its calls of the host.
#include <tlm_utils/simple_target_socket.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "processor/firmware_core.h"
#include "protocol/address_map.h"
#include "riscv/assembler.h"

namespace t3vp::test::firmware_core_test {

using namespace assembler;
using namespace processor;
using namespace sc_core;

namespace {

constexpr std::uint16_t gpu = 1;
constexpr std::uint64_t handler = address_map::core_memory + 0x800, data = address_map::core_memory + 0x1000;
const std::uint64_t own_register = address_map::on_gpu(gpu, address_map::registers_base + 0x10),
                    own_memory = address_map::on_gpu(gpu, 0x1000), peer = address_map::on_gpu(2, 0x1000);

ProcessorParameters with_core() {
  ProcessorParameters parameters;
  parameters.on_core = true;
  parameters.core.memory_bytes = 1 << 20;
  return parameters;
}

/// A core whose node is a word everywhere, but refuses addresses of GPU 9.
class Bench : public sc_module {
 public:
  struct Access {
    bool write;
    std::uint64_t address;
    std::uint64_t at;      ///< simulated time, ns
    std::uint64_t before;  ///< by which the access ran ahead of it
  };

  FirmwareCore core;
  sc_signal<bool> interrupt{"interrupt_line"};
  std::vector<Access> accesses;
  std::vector<std::string> lines;
  std::vector<std::uint64_t> rings;
  std::uint64_t word = 0x1122334455667788;

  explicit Bench(const sc_module_name& = "bench") : core("core", gpu, with_core()) {
    core.socket.bind(node_);
    core.interrupt.bind(interrupt);
    core.on_log([this](const std::string& text) { lines.push_back(text); });
    core.on_call([this](std::uint64_t address) {
      rings.push_back(address);
      core.end(Status::busy, 0);
    });
    node_.register_b_transport(this, &Bench::transport);
    node_.register_transport_dbg(this, &Bench::look);
    core.core.hart().control.mtvec = handler;
    set(s1, data);
  }

  void set(Word which, std::uint64_t value) { core.core.hart().x[which] = value; }
  std::uint64_t get(Word which) const { return core.core.hart().x[which]; }
  void place(std::uint64_t address, const std::vector<Word>& words) {
    std::memcpy(core.memory().at(address, 4 * words.size()), words.data(), 4 * words.size());
  }
  /// The program ends by the doorbell, whose address is in a0.
  void run(std::vector<Word> words) {
    words.push_back(sd(s1, a0, 0));
    words.push_back(jal(zero, 0));
    place(address_map::core_memory, words);
    set(a0, address_map::core_host);
    core.run(address_map::core_memory);
    sc_start(1, SC_MS);
  }

 private:
  void transport(tlm::tlm_generic_payload& t, sc_time& delay) {
    const std::uint64_t address = t.get_address();
    accesses.push_back({t.is_write(), address, now() / 1000, from_sc_time(delay) / 1000});
    const bool refused = address_map::gpu_of(address) == 9;
    t.set_response_status(refused ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    if (refused) return;
    auto* const bytes = reinterpret_cast<unsigned char*>(&word);
    std::memcpy(t.is_read() ? t.get_data_ptr() : bytes, t.is_read() ? bytes : t.get_data_ptr(), t.get_data_length());
  }

  unsigned look(tlm::tlm_generic_payload& t) {
    std::memcpy(t.get_data_ptr(), &word, t.get_data_length());
    return t.get_data_length();
  }

  tlm_utils::simple_target_socket<Bench, 64> node_{"node"};
};

}  // namespace

TEST_CASE("a core's accesses are the node's but for writes to own registers at their own time") {
  Bench bench;
  bench.set(s0, own_register);
  bench.set(t0, own_memory);
  bench.set(t1, peer);
  bench.run({nop(), sw(a1, s0, 0), nop(), sw(a1, t0, 0), nop(), sw(a1, t1, 0), nop(), ld(a2, s0, 0)});
  REQUIRE(bench.accesses.size() == 4);
  const auto& [own, memory, remote, read] =
      std::tie(bench.accesses[0], bench.accesses[1], bench.accesses[2], bench.accesses[3]);
  CHECK((own.write && own.address == own_register && own.at == 0 && own.before == 1));
  CHECK((memory.write && memory.address == own_memory && memory.at == 3 && memory.before == 0));
  CHECK((remote.write && remote.address == peer && remote.at == 5 && remote.before == 0));
  CHECK((!read.write && read.address == own_register && read.at == 7 && read.before == 0));
  CHECK(bench.core.finished());
  CHECK(bench.core.status() == Status::busy);
  CHECK(bench.rings == std::vector<std::uint64_t>{data});
}

TEST_CASE("what a core's access is refused for it is told by the cause of a fault and a status") {
  Bench bench;
  bench.set(s0, address_map::on_gpu(9, 0));
  bench.place(handler, {csrr(a2, mcause), csrr(a3, mtval), sd(s1, a0, 0), jal(zero, 0)});
  bench.run({nop(), sw(a1, s0, 8)});
  CHECK(bench.get(a2) == 7);
  CHECK(bench.get(a3) == address_map::on_gpu(9, 8));
  CHECK(bench.core.refusal() == Status::access_denied);
}

TEST_CASE("the node's first page is refused to a core at 0 and reached at its own place") {
  Bench bench;
  std::vector<Word> words;
  for (const Immediate offset : {0, 1, 8, 4095 - 2048}) {
    words.push_back(load(4, a3, zero, offset));
    words.push_back(s(offset, zero, zero, 0));
  }
  bench.set(s0, 4095);
  words.push_back(load(4, a3, s0, 0));
  // Counts faults of loads and stores, 5 and 7.
  bench.place(handler, {csrr(a3, mcause), add(a2, a2, a3), csrr(a3, mepc), addi(a3, a3, 4), csrw(mepc, a3), mret()});
  bench.set(t0, 4096);
  bench.set(t1, address_map::core_first_page + 8);
  bench.set(t2, address_map::core_first_page + 4096);
  words.insert(words.end(), {ld(t0, t0, 0), ld(t1, t1, 0), ld(t2, t2, 0)});
  bench.run(words);
  CHECK(bench.get(a2) == 4 * (5 + 7) + 5 + 5);
  CHECK((bench.get(t0) == bench.word && bench.get(t1) == bench.word));
  REQUIRE(bench.accesses.size() == 2);
  CHECK(bench.accesses[0].address == 4096);
  CHECK(bench.accesses[1].address == 8);
}

TEST_CASE("a core's memory is written only where that is allowed and read everywhere") {
  Bench bench;
  bench.core.memory().let_write(data + 4, data + 0xFB, false);
  bench.core.memory().let_write(data + 0x24, data + 0x3B, true);
  bench.place(handler, {csrr(a3, mcause), add(a2, a2, a3), csrr(a3, mepc), addi(a3, a3, 4), csrw(mepc, a3), mret()});
  bench.set(a1, 42);
  const std::vector<Immediate> places = {-8, 0, 0x18, 0x1C, 0x28, 0x38, 0x40, 0xF8, 0x100};  // some cross an edge
  std::vector<Word> words;
  for (const Immediate place : places) {
    words.push_back(sd(a1, s1, place));
    words.push_back(ld(a3, s1, place));
  }
  bench.run(words);
  CHECK(bench.get(a2) == 6 * 7);
  const auto written = [&](Immediate place) {
    return *bench.core.memory().at(data + static_cast<std::uint64_t>(place), 1) == 42;
  };
  for (const Immediate place : {-8, 0x28, 0x100}) CHECK(written(place));
  for (const Immediate place : {0, 0x18, 0x1C, 0x38, 0x40, 0xF8}) CHECK(!written(place));
}

TEST_CASE("a core's own space has nothing between its devices and behind its memory") {
  const std::vector<std::pair<Register, std::uint64_t>> nowhere = {
      {s0, address_map::core_space},          {t0, address_map::core_timer + 0x4001},
      {t1, address_map::core_timer + 0xC000}, {t2, address_map::core_uart + 8},
      {a1, address_map::core_host + 8},       {sp, address_map::core_memory + (1 << 20)},
      {ra, address_map::core_memory - 8}};
  Bench bench;
  std::vector<Word> words;
  for (const auto& [which, address] : nowhere) {
    bench.set(which, address);
    words.push_back(load(4, a3, which, 0));
  }
  // Counts faults of loads.
  bench.place(handler, {csrr(a3, mcause), addi(a3, a3, -4), add(a2, a2, a3), csrr(a3, mepc), addi(a3, a3, 4),
                        csrw(mepc, a3), mret()});
  bench.run(words);
  CHECK(bench.get(a2) == nowhere.size());
  CHECK(bench.core.refusal() == Status::bad_address);
  CHECK(bench.accesses.empty());
}

TEST_CASE("a core's timer wakes it when mtime has come to mtimecmp and its line falls with the next one") {
  Bench bench;
  bench.set(s0, address_map::core_timer + 0x4000);
  bench.set(t0, 500);
  bench.set(t1, 1 << 7);
  bench.run({csrw(mie, t1), sd(t0, s0, 0), wfi(), csrr(a2, time_csr), csrr(a3, mip), li(t0, -1), sd(t0, s0, 0),
             csrr(t2, mip)});
  CHECK(bench.get(a2) == 500);
  CHECK(bench.get(a3) == 1 << 7);
  CHECK(bench.get(t2) == 0);
}

TEST_CASE("a core's timer has mtime and halves of its registers and the software interrupt") {
  Bench bench;
  bench.set(s0, address_map::core_timer);
  bench.set(t0, address_map::core_timer + 0x4000);
  bench.set(t1, address_map::core_timer + 0xBFF8);
  bench.run(
      {li(a1, 7), sw(a1, t0, 4), ld(a2, t0, 0), ld(a3, t1, 0), li(a1, 3), sw(a1, s0, 0), csrr(t2, mip), lw(a1, s0, 0)});
  CHECK(bench.get(a2) == 0x7FFFFFFFF);
  CHECK(bench.get(a3) == 4);  // three instructions and the nanosecond that the write has taken
  CHECK(bench.get(t2) == 1 << 3);
  CHECK(bench.get(a1) == 1);
}

TEST_CASE("what a core's UART sends is logged by lines and what is left at the end") {
  Bench bench;
  bench.set(s0, address_map::core_uart);
  std::vector<Word> words{load(4, a2, s0, 5)};
  for (const char c : std::string("hello\n\nworld")) {
    words.push_back(li(a1, c));
    words.push_back(s(0, a1, s0, 0));
  }
  bench.run(words);
  CHECK(bench.get(a2) == 0x60);
  CHECK(bench.lines == std::vector<std::string>{"hello", "", "world"});
}

TEST_CASE("a core's wait that is given up ends by its software interrupt") {
  Bench bench;
  bench.set(t1, 1 << 3);
  int calls = 0;
  bool given_up = false;
  bench.core.on_call([&](std::uint64_t) {
    if (++calls == 1) return bench.core.begin_wait("nothing", Processor::forever);
    given_up = bench.core.is_given_up();
    bench.core.end_wait();
    bench.core.end(Status::ok, 0);
  });
  bench.run({sd(s1, a0, 0), csrw(mie, t1), wfi()});
  CHECK(calls == 1);
  CHECK(bench.core.awaits_interrupt());
  CHECK(bench.core.waits_for() == "nothing");
  CHECK_FALSE(sc_pending_activity());
  bench.core.give_up_waiting();
  sc_start(1, SC_US);
  CHECK(given_up);
  CHECK(bench.core.finished());
  CHECK_FALSE(bench.core.awaits_interrupt());
}

TEST_CASE("a core's external interrupt is the GPU's") {
  Bench bench;
  bench.set(t1, 1 << 11);
  bench.place(handler, {csrr(a2, mcause), sd(s1, a0, 0), jal(zero, 0)});
  bool raised = false;
  bench.core.on_call([&](std::uint64_t) {
    raised = bench.core.begin_interrupt();
    bench.core.end(Status::ok, 0);
  });
  bench.interrupt.write(true);
  bench.run({csrw(mie, t1), csrrsi(zero, mstatus, 8), jal(zero, 0)});
  CHECK(bench.get(a2) == (std::uint64_t{1} << 63 | 11));
  CHECK(raised);
}

TEST_CASE("a debugger looks through a core's eyes and changes nothing but memory") {
  Bench bench;
  bench.set(s0, own_memory);
  bench.run({ld(a2, s0, 0)});
  const auto look = [&](std::uint64_t address, tlm::tlm_command command, std::uint64_t& value) {
    tlm::tlm_generic_payload t;
    t.set_command(command);
    t.set_address(address);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    t.set_data_length(8);
    t.set_streaming_width(8);
    return bench.core.core.socket->transport_dbg(t);
  };
  std::uint64_t value = 0;
  CHECK(look(own_memory, tlm::TLM_READ_COMMAND, value) == 8);
  CHECK(value == bench.word);
  value = 42;
  CHECK(look(data, tlm::TLM_WRITE_COMMAND, value) == 8);
  value = 0;
  CHECK(look(data, tlm::TLM_READ_COMMAND, value) == 8);
  CHECK(value == 42);
  CHECK(look(address_map::core_timer + 0xBFF8, tlm::TLM_READ_COMMAND, value) == 8);
  CHECK(value == 1'000'000);
  CHECK(look(address_map::core_timer + 0x4000, tlm::TLM_WRITE_COMMAND, value) == 0);
  CHECK(look(address_map::core_host, tlm::TLM_WRITE_COMMAND, value) == 0);
  CHECK(bench.rings.size() == 1);
  CHECK(bench.accesses.size() == 1);
}

TEST_CASE("a core that sleeps for nothing says so") {
  Bench bench;
  bench.run({wfi()});
  REQUIRE(bench.core.diagnosis().size() == 1);
  CHECK(bench.core.diagnosis()[0] ==
        "GPU 1 firmware sleeps (wfi at 0xfffffe0080000000) and no interrupt that it has enabled can come");
}

TEST_CASE("a core whose trap handler raises an exception itself says so") {
  Bench bench;
  bench.set(s0, address_map::core_space);
  bench.place(handler, {0});
  bench.run({ld(a1, s0, 0)});
  REQUIRE(bench.core.diagnosis().size() == 1);
  CHECK(bench.core.diagnosis()[0] ==
        "GPU 1 firmware has stopped: the trap handler, at 0xfffffe0080000800 (mtvec), raises an exception itself: "
        "illegal "
        "instruction (cause 2) at pc 0xfffffe0080000800; it was called for: load access fault (cause 5) at pc "
        "0xfffffe0080000000");
}

TEST_CASE("a core that is given nothing to run has ended") {
  Bench bench;
  sc_start(1, SC_US);
  CHECK(bench.core.finished());
  CHECK(bench.core.status() == Status::ok);
  CHECK(bench.core.diagnosis().empty());
}

}  // namespace t3vp::test::firmware_core_test
