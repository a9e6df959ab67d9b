// A core on a bus: its time, its quantum, DMI, interrupts and WFI.
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "riscv/assembler.h"
#include "riscv/core.h"

namespace t3vp::test::core_test {

using namespace assembler;
using namespace riscv;
using namespace sc_core;

namespace {

constexpr std::uint64_t handler = 0x800, data = 0x1000, device = 0x10000, memory_bytes = 0x4000;

CoreParameters with_quantum(double ns, std::uint64_t most_steps = ~std::uint64_t{0}) {
  CoreParameters parameters;
  parameters.quantum = sc_time(ns, SC_NS);
  parameters.most_steps = most_steps;
  return parameters;
}

/// Memory at 0 and a device whose accesses take 100 ns, or wait as long, and which refuses offset 0xF0 on.
class Board : public sc_module {
 public:
  struct Access {
    bool write;
    std::uint64_t address;
    sc_time at;  ///< with the delay that the access came with
  };

  Core core;
  std::vector<unsigned char> memory = std::vector<unsigned char>(memory_bytes);
  std::vector<Access> accesses;  ///< to the device
  std::uint64_t transports_to_memory = 0;
  bool device_waits = false, memory_is_direct = true;
  std::uint64_t register_value = 0;
  sc_signal<bool> timer{"timer"}, software{"software"}, external{"external"};

  explicit Board(const CoreParameters& parameters, const sc_module_name& = "board") : core("core", parameters) {
    core.socket.bind(socket);
    core.timer_interrupt.bind(timer);
    core.software_interrupt.bind(software);
    core.external_interrupt.bind(external);
    socket.register_b_transport(this, &Board::transport);
    socket.register_get_direct_mem_ptr(this, &Board::direct_memory);
    core.hart().control.mtvec = handler;
    core.hart().x[s0] = device;
    core.hart().x[s1] = data;
  }

  void place(std::uint64_t address, const std::vector<std::uint32_t>& words) {
    std::memcpy(memory.data() + address, words.data(), 4 * words.size());
  }

  tlm_utils::simple_target_socket<Board, 64> socket{"socket"};

 private:
  void transport(tlm::tlm_generic_payload& t, sc_time& delay) {
    CHECK(t.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE);
    CHECK(t.get_streaming_width() == t.get_data_length());
    if (t.get_address() < memory_bytes) {
      ++transports_to_memory;
      unsigned char* const place = memory.data() + t.get_address();
      std::memcpy(t.is_read() ? t.get_data_ptr() : place, t.is_read() ? place : t.get_data_ptr(), t.get_data_length());
      t.set_dmi_allowed(memory_is_direct);
      return t.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    if (t.get_address() < device || t.get_address() >= device + 0xF0)
      return t.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    accesses.push_back({t.is_write(), t.get_address(), sc_time_stamp() + delay});
    auto* const value = reinterpret_cast<unsigned char*>(&register_value);
    std::memcpy(t.is_read() ? t.get_data_ptr() : value, t.is_read() ? value : t.get_data_ptr(), t.get_data_length());
    if (device_waits) {
      wait(delay + sc_time(100, SC_NS));
      delay = SC_ZERO_TIME;
    } else {
      delay += sc_time(100, SC_NS);
    }
    t.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  bool direct_memory(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.set_dmi_ptr(memory.data());
    dmi.set_start_address(0);
    dmi.set_end_address(memory_bytes - 1);
    dmi.allow_read_write();
    return true;
  }
};

sc_time ns(double t) { return sc_time(t, SC_NS); }

}  // namespace

TEST_CASE("an instruction takes a clock period and a run of them exactly a quantum") {
  Board board(with_quantum(100));
  board.place(0, {self()});
  sc_start(ns(100));  // what is due at 100 ns has not run
  CHECK(board.core.hart().steps() == 100);
  sc_start(ns(50));
  CHECK(board.core.hart().steps() == 200);
  sc_start(ns(50) - sc_time(1, SC_PS));
  CHECK(board.core.hart().steps() == 200);
  sc_start(sc_time(1001, SC_PS));
  CHECK(board.core.hart().steps() == 300);
}

TEST_CASE("with quantum 0 a core is in step with simulated time") {
  Board board(with_quantum(0));
  board.place(0, {self()});
  sc_start(ns(10.5));
  CHECK(board.core.hart().steps() == 11);
}

TEST_CASE("a core halts after the steps that it may take and at their time") {
  Board board(with_quantum(100, 250));
  board.place(0, {self()});
  sc_start();
  CHECK(board.core.is_halted());
  CHECK(board.core.hart().steps() == 250);
  CHECK(sc_time_stamp() == ns(250));
}

TEST_CASE("accesses to a device carry the core's own time and take what they annotate") {
  Board board(with_quantum(1000, 6));
  board.place(0, {nop(), sw(a0, s0, 0), nop(), lw(a1, s0, 8), csrr(a2, mcycle), csrr(a3, time_csr)});
  board.core.hart().x[a0] = 77;
  sc_start();
  REQUIRE(board.accesses.size() == 2);
  CHECK(board.accesses[0].write);
  CHECK(board.accesses[0].at == ns(1));
  CHECK(board.accesses[1].address == device + 8);
  CHECK(board.accesses[1].at == ns(103));
  CHECK(board.core.hart().x[a1] == 77);
  CHECK(board.core.hart().x[a2] == 204);
  CHECK(board.core.hart().x[a3] == 205);
  CHECK(sc_time_stamp() == ns(206));
}

TEST_CASE("a device that waits takes the same time") {
  Board board(with_quantum(1000, 5));
  board.device_waits = true;
  board.place(0, {nop(), sw(a0, s0, 0), nop(), lw(a1, s0, 8), csrr(a2, mcycle)});
  sc_start();
  REQUIRE(board.accesses.size() == 2);
  CHECK(board.accesses[1].at == ns(103));
  CHECK(board.core.hart().x[a2] == 204);
}

TEST_CASE("the time of accesses counts within the quantum") {
  Board board(with_quantum(250));
  std::vector<std::uint32_t> words(100, lw(a0, s0, 0));
  board.place(0, words);
  sc_start(ns(1));
  CHECK(board.core.hart().steps() == 3);  // 101, 202, 303 ns
  sc_start(ns(303));
  CHECK(board.core.hart().steps() == 5);  // 404 and 505 ns, beyond the quantum's end at 500
}

TEST_CASE("what a bus refuses is an access fault that software can go on from") {
  Board board(with_quantum(1000, 7));
  board.place(0, {lw(a0, s0, 0xF0), sw(a0, s0, 0xF4), self()});
  board.place(handler, {csrr(t0, mepc), jal(zero, 8)});
  board.place(handler + 12, {addi(t0, t0, 4), csrw(mepc, t0), mret()});
  board.core.hart().x[a0] = 5;
  sc_start();
  CHECK(board.core.hart().x[a0] == 5);
  CHECK(board.core.hart().control.mcause == 7);
  CHECK(board.core.hart().control.mtval == device + 0xF4);
  CHECK(board.core.hart().steps() == 7);
}

TEST_CASE("plain memory is asked for once and accessed directly from then on") {
  Board board(with_quantum(1000, 11));
  board.place(0, {ld(a0, s1, 0), addi(a0, a0, 1), sd(a0, s1, 0), jal(zero, -12)});
  sc_start();
  CHECK(board.transports_to_memory == 1);
  CHECK(board.memory[data] == 3);
}

TEST_CASE("memory that is not for direct access serves all of it by transport") {
  Board board(with_quantum(1000, 11));
  board.memory_is_direct = false;
  board.place(0, {ld(a0, s1, 0), addi(a0, a0, 1), sd(a0, s1, 0), jal(zero, -12)});
  sc_start();
  CHECK(board.transports_to_memory == 2 * 11 + 6);  // two halves of each instruction, six accesses
  CHECK(board.memory[data] == 3);
}

TEST_CASE("direct memory that is taken back is asked for again and its code fetched again") {
  Board board(with_quantum(100));
  board.place(0, {addi(a0, a0, 1), jal(zero, -4)});
  sc_start(ns(100));
  CHECK(board.core.hart().x[a0] == 50);
  board.place(0, {addi(a0, a0, 0)});  // behind the core's back: it does not see that
  sc_start(ns(100));
  CHECK(board.core.hart().x[a0] == 100);
  board.socket->invalidate_direct_mem_ptr(0x100, 0x1FF);
  sc_start(ns(100));
  CHECK(board.core.hart().x[a0] == 100);
  CHECK(board.transports_to_memory == 2);
}

TEST_CASE("lines are bits of mip at the time at which it is read, and an interrupt is taken there") {
  Board board(with_quantum(100));
  board.place(0, {csrr(a0, mip), jal(zero, -4)});
  board.place(handler, {csrr(a1, mcause), self()});
  sc_start(ns(150));
  CHECK(board.core.hart().x[a0] == 0);
  board.timer = true;
  sc_start(ns(100));
  CHECK(board.core.hart().x[a0] == 1 << 7);
  board.timer = false;
  board.software = true;
  sc_start(ns(100));
  CHECK(board.core.hart().x[a0] == 1 << 3);
  board.software = false;
  board.external = true;
  sc_start(ns(100));
  CHECK(board.core.hart().x[a0] == 1 << 11);
  board.core.hart().control.mie = 1 << 11;
  board.core.hart().control.mie_bit = true;
  const std::uint64_t steps = board.core.hart().steps();
  sc_start(ns(100));
  CHECK(board.core.hart().x[a1] == (std::uint64_t{1} << 63 | 11));
  CHECK(board.core.hart().control.mepc % 4 == 0);
  CHECK(board.core.hart().steps() == steps + 150);  // the handler, which reads no mip, runs ahead to the quantum's end
}

TEST_CASE("a line that rises during an access interrupts the next instruction") {
  Board board(with_quantum(10'000, 8));
  board.device_waits = true;
  board.place(0, {csrrsi(zero, mie, 8), csrrsi(zero, mstatus, 8), lw(a0, s0, 0), nop(), nop()});
  board.place(handler, {self()});
  sc_start(ns(50));
  board.software = true;
  sc_start();
  CHECK(board.core.hart().control.mepc == 12);
}

TEST_CASE("a sleeping core takes no steps and goes on at the very time of its interrupt") {
  Board board(with_quantum(1000, 7));
  board.core.hart().control.mie = 1 << 7;
  board.place(0, {nop(), wfi(), csrr(a0, mcycle), sw(a0, s0, 0), csrr(a1, minstret), nop(), nop()});
  sc_start(sc_time(5, SC_MS) + ns(321));
  CHECK(board.core.hart().steps() == 2);
  CHECK(board.core.hart().sleeps());
  board.external = true;  // not enabled
  sc_start(ns(10));
  CHECK(board.core.hart().steps() == 2);
  board.timer = true;
  sc_start();
  CHECK(board.core.hart().x[a0] == 5'000'331);
  REQUIRE(board.accesses.size() == 1);
  CHECK(board.accesses[0].at == sc_time(5, SC_MS) + ns(332));
  CHECK(board.core.hart().x[a1] == 4);
}

TEST_CASE("an interrupt that comes while the core catches up before it sleeps is not lost") {
  Board board(with_quantum(1000, 200));
  board.core.hart().control.mie = 1 << 3;
  std::vector<std::uint32_t> words(100, nop());
  words.push_back(wfi());
  words.push_back(li(a0, 1));
  words.push_back(self());
  board.place(0, words);
  sc_start(ns(50));  // the core is ahead, at 101 ns
  CHECK(board.core.hart().sleeps());
  board.software = true;
  sc_start();
  CHECK(board.core.hart().x[a0] == 1);
}

TEST_CASE("a sleeping core that nothing wakes leaves nothing to simulate") {
  Board board(with_quantum(1000));
  board.place(0, {wfi()});
  sc_start();
  CHECK(board.core.hart().sleeps());
  CHECK_FALSE(board.core.is_halted());
  CHECK(sc_time_stamp() == ns(1));
}

TEST_CASE("what a core does and when does not depend on its quantum") {
  constexpr double quanta[] = {0, 1, 7, 1000, 1e6};
  std::vector<std::unique_ptr<Board>> boards;
  for (const double quantum : quanta) {
    Board& board =
        *boards.emplace_back(std::make_unique<Board>(with_quantum(quantum, 400), sc_gen_unique_name("board")));
    board.place(
        0, {sw(a0, s0, 0), lw(a1, s0, 0), addi(a0, a0, 1), csrr(a2, mcycle), add(a3, a3, a2), ecall(), jal(zero, -24)});
    board.place(handler, {csrr(t0, mepc), addi(t0, t0, 4), csrw(mepc, t0), mret()});
  }
  sc_start();
  CHECK(sc_time_stamp() == ns(400 + 100 * 74));
  for (const auto& board : boards) {
    CHECK(board->core.hart().x[a0] == 37);      // 11 steps a turn
    CHECK(board->core.hart().x[a3] == 140238);  // the sum of 211 k + 203 for k from 0 to 35
    CHECK(board->accesses.back().at == ns(397 + 100 * 73));
  }
}

namespace {

/// Notes the instructions before and behind which it is called.
class Notes : public Follower {
 public:
  std::vector<std::uint64_t> befores, afters;
  std::uint64_t leaves_at = ~std::uint64_t{0}, holds_at = ~std::uint64_t{0};

  void before(Core& core) override {
    befores.push_back(core.hart().pc);
    if (core.hart().pc == leaves_at) core.set_follower(nullptr);
    if (core.hart().pc == holds_at) core.hart().hold_interrupts(true);
  }
  void after(Core& core) override { afters.push_back(core.hart().pc); }
};

}  // namespace

TEST_CASE("a core that is followed does the same at the same times") {
  Notes notes;
  std::vector<std::unique_ptr<Board>> boards;
  for (const bool followed : {false, true}) {
    Board& board = *boards.emplace_back(std::make_unique<Board>(with_quantum(50, 2000), sc_gen_unique_name("board")));
    board.place(0, {csrrsi(zero, mie, 8), csrrsi(zero, mstatus, 8), sw(a0, s0, 0), lw(a1, s0, 0), addi(a0, a0, 1),
                    csrr(a2, mcycle), add(a3, a3, a2), csrr(a2, minstret), add(a3, a3, a2), ecall(), jal(zero, -32)});
    // An interrupt, whose mcause is negative, goes on where it was, an exception behind its instruction.
    board.place(handler, {csrr(t0, mcause), add(a3, a3, t0), csrr(t1, mepc), b(8, zero, t0, 4), addi(t1, t1, 4),
                          csrw(mepc, t1), mret()});
    if (followed) board.core.set_follower(&notes);
  }
  for (int i = 0; i < 100; ++i) {
    sc_start(ns(37));
    for (const auto& board : boards) board->software = i % 5 == 0;
  }
  sc_start();
  const Hart &alone = boards[0]->core.hart(), &followed = boards[1]->core.hart();
  CHECK(notes.befores.size() == 2000);
  CHECK(alone.steps() == followed.steps());
  CHECK(alone.retired() == followed.retired());
  CHECK(alone.x == followed.x);
  REQUIRE(boards[0]->accesses.size() == boards[1]->accesses.size());
  for (std::size_t i = 0; i < boards[0]->accesses.size(); ++i)
    CHECK(boards[0]->accesses[i].at == boards[1]->accesses[i].at);
}

TEST_CASE("a follower is before the first instruction of an interrupt's handler unless it holds interrupts") {
  Notes notes[2];
  notes[1].holds_at = 4;
  std::vector<std::unique_ptr<Board>> boards;
  for (Notes& its_notes : notes) {
    Board& board = *boards.emplace_back(std::make_unique<Board>(with_quantum(100, 120), sc_gen_unique_name("board")));
    board.place(0, {csrrsi(zero, mie, 8), csrrsi(zero, mstatus, 8), self()});
    board.place(handler, {nop(), self()});
    board.core.set_follower(&its_notes);
    board.software = true;
  }
  sc_start();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& befores = notes[i].befores;
    const bool holds = i == 1;
    CHECK((std::find(befores.begin(), befores.end(), handler) == befores.end()) == holds);
    CHECK(boards[i]->core.hart().control.mip == 8);  // held or not, it can be seen
  }
}

TEST_CASE("a follower that leaves is called no more and the core goes on") {
  Notes notes;
  notes.leaves_at = 8;
  Board board(with_quantum(100, 500));
  board.place(0, {nop(), nop(), self()});
  board.core.set_follower(&notes);
  sc_start();
  CHECK(notes.befores == std::vector<std::uint64_t>{0, 4, 8});
  CHECK(notes.afters == std::vector<std::uint64_t>{4, 8});
  CHECK(board.core.hart().steps() == 500);
}

TEST_CASE("a sleeping core that is woken goes on without an interrupt") {
  Board board(with_quantum(100, 3));
  board.place(0, {wfi(), li(a0, 1), nop()});
  sc_start(ns(1000));
  CHECK(board.core.hart().x[a0] == 0);
  board.core.wake();
  sc_start();
  CHECK(board.core.hart().x[a0] == 1);
}

}  // namespace t3vp::test::core_test
