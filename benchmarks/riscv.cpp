// Speed of a RISC-V hart with plain memory, and of a core with its socket and quantum: instructions per second of
// processor time.
#include <benchmark/benchmark.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "riscv/core.h"

// libsystemc brings a main() of its own, which wants this; ours takes precedence.
int sc_main(int, char**) { return 0; }

namespace {

using namespace t3vp::riscv;

constexpr std::uint64_t memory_bytes = 1 << 16;
using Memory = std::array<unsigned char, memory_bytes>;

/// Loops without end, as riscv64-unknown-elf-as assembles them; all registers are 0 at first.
struct Program {
  const char* name;
  std::vector<std::uint32_t> words;
};

const Program programs[] = {
    {"arithmetic",
     {0x00150513,    // loop: addi a0, a0, 1
      0x00a585b3,    // add a1, a1, a0
      0x00b64633,    // xor a2, a2, a1
      0x00d61693,    // slli a3, a2, 13
      0x40d586b3,    // sub a3, a1, a3
      0x0076d713,    // srli a4, a3, 7
      0x00e6e7b3,    // or a5, a3, a4
      0xfe5ff06f}},  // j loop
    {"memory",
     {0x00001537,    // lui a0, 1
      0x00053583,    // loop: ld a1, 0(a0)
      0x00158593,    // addi a1, a1, 1
      0x00b53023,    // sd a1, 0(a0)
      0x00852603,    // lw a2, 8(a0)
      0x00c58633,    // add a2, a1, a2
      0x00c52423,    // sw a2, 8(a0)
      0xfe9ff06f}},  // j loop
    {"branches",
     {0x00150513,    // loop: addi a0, a0, 1
      0x00157593,    // andi a1, a0, 1
      0xfe058ce3,    // beqz a1, loop
      0x00257593,    // andi a1, a0, 2
      0x00059463,    // bnez a1, skip
      0x00160613,    // addi a2, a2, 1
      0xfe9ff06f}},  // skip: j loop
    {"division",
     {0xfff50513,    // loop: addi a0, a0, -1
      0x00358593,    // addi a1, a1, 3
      0x02b54633,    // div a2, a0, a1
      0x02b566b3,    // rem a3, a0, a1
      0x02d60733,    // mul a4, a2, a3
      0xfedff06f}},  // j loop
};

void load(Memory& memory, const Program& program) {
  std::memcpy(memory.data(), program.words.data(), sizeof program.words.front() * program.words.size());
}

class Nothing : public Environment {
  bool read(std::uint64_t, unsigned char*, std::uint32_t) override { return false; }
  bool write(std::uint64_t, const unsigned char*, std::uint32_t) override { return false; }
  std::uint64_t cycles() override { return 0; }
  std::uint64_t time() override { return 0; }
};

void run_hart(benchmark::State& state, const Program& program) {
  constexpr std::uint64_t steps = 1'000'000;
  Memory memory{};
  load(memory, program);
  Nothing nothing;
  Hart hart(nothing, 0, 0);
  hart.direct_memory().add({0, memory.size(), memory.data(), true, true});
  for (auto _ : state) hart.run(steps);
  state.SetItemsProcessed(static_cast<std::int64_t>(hart.retired()));
}

/// A core with the default quantum and a memory.
class Bench : public sc_core::sc_module {
 public:
  Core core{"core", CoreParameters{}};

  explicit Bench(const sc_core::sc_module_name& name) : sc_module(name) {
    core.socket.bind(socket_);
    for (auto* line : {&core.timer_interrupt, &core.software_interrupt, &core.external_interrupt}) line->bind(low_);
    socket_.register_b_transport(this, &Bench::transport);
    socket_.register_get_direct_mem_ptr(this, &Bench::direct_memory);
  }

  Memory memory{};

 private:
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
    std::memcpy(transaction.get_data_ptr(), memory.data() + transaction.get_address(), transaction.get_data_length());
    transaction.set_dmi_allowed(true);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  bool direct_memory(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.set_dmi_ptr(memory.data());
    dmi.set_start_address(0);
    dmi.set_end_address(memory.size() - 1);
    dmi.allow_read_write();
    return true;
  }

  tlm_utils::simple_target_socket<Bench, 64> socket_{"socket"};
  sc_core::sc_signal<bool> low_{"low"};
};

void run_core(benchmark::State& state, Bench& bench) {
  const std::uint64_t before = bench.core.hart().retired();
  for (auto _ : state) sc_core::sc_start(1, sc_core::SC_MS);
  state.SetItemsProcessed(static_cast<std::int64_t>(bench.core.hart().retired() - before));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const Program& program : programs)
    benchmark::RegisterBenchmark((std::string("hart/") + program.name).c_str(), run_hart, std::cref(program))
        ->Unit(benchmark::kMillisecond);
  Bench bench("bench");
  load(bench.memory, programs[1]);
  benchmark::RegisterBenchmark("core/memory", run_core, std::ref(bench))->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
}
