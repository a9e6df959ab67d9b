#include "hart/control_registers.h"

#include "hart/hart.h"

namespace t3vp::riscv {
namespace {

constexpr std::uint64_t mie_place = 3, mpie_place = 7;  // in mstatus
constexpr std::uint64_t machine_mode = 3ull << 11;      // mstatus.MPP, which has no other value

constexpr std::uint64_t extension(char letter) { return std::uint64_t{1} << (letter - 'A'); }
constexpr std::uint64_t rv64imac = 2ull << 62 | extension('I') | extension('M') | extension('A') | extension('C');

std::uint64_t zero(Hart&) { return 0; }
std::uint64_t cycles(Hart& h) { return h.environment().cycles() + h.control.cycle_offset; }
std::uint64_t instructions(Hart& h) { return h.retired() + h.control.instret_offset; }

std::uint64_t mstatus(Hart& h) {
  return machine_mode | std::uint64_t{h.control.mie_bit} << mie_place | std::uint64_t{h.control.mpie_bit} << mpie_place;
}
void set_mstatus(Hart& h, std::uint64_t value) {
  h.control.mie_bit = (value >> mie_place & 1) != 0;
  h.control.mpie_bit = (value >> mpie_place & 1) != 0;
}

template <std::uint64_t ControlRegisters::*place>
std::uint64_t stored(Hart& h) {
  return h.control.*place;
}
template <std::uint64_t ControlRegisters::*place, std::uint64_t mask>
void store(Hart& h, std::uint64_t value) {
  h.control.*place = value & mask;
}

std::uint64_t lines(Hart& h) {
  h.environment().look_at_lines();
  return h.control.mip;
}

using C = ControlRegisters;
constexpr std::uint64_t all = ~std::uint64_t{0}, even = all - 1;
constexpr std::uint64_t direct_or_vectored = all - 2;  // mtvec: the upper bit of the mode is fixed

constexpr ControlRegister rows[] = {
    {0x300, 0x300, "mstatus", mstatus, set_mstatus},
    {0x301, 0x301, "misa", [](Hart&) { return rv64imac; }, nullptr},
    {0x304, 0x304, "mie", stored<&C::mie>, store<&C::mie, all_interrupts>},
    {0x305, 0x305, "mtvec", stored<&C::mtvec>, store<&C::mtvec, direct_or_vectored>},
    {0x320, 0x320, "mcountinhibit", zero, nullptr},
    {0x323, 0x33F, "mhpmevent", zero, nullptr},
    {0x340, 0x340, "mscratch", stored<&C::mscratch>, store<&C::mscratch, all>},
    {0x341, 0x341, "mepc", stored<&C::mepc>, store<&C::mepc, even>},
    {0x342, 0x342, "mcause", stored<&C::mcause>, store<&C::mcause, all>},
    {0x343, 0x343, "mtval", stored<&C::mtval>, store<&C::mtval, all>},
    {0x344, 0x344, "mip", lines, nullptr},
    {0x7A0, 0x7A3, "tselect, tdata1 to tdata3", zero, nullptr},  // there are no triggers
    {0xB00, 0xB00, "mcycle", cycles,
     [](Hart& h, std::uint64_t value) { h.control.cycle_offset = value - h.environment().cycles(); }},
    // The instruction that writes it does not count: the next one reads what was written.
    {0xB02, 0xB02, "minstret", instructions,
     [](Hart& h, std::uint64_t value) { h.control.instret_offset = value - (h.retired() + 1); }},
    {0xB03, 0xB1F, "mhpmcounter", zero, nullptr},
    {0xC00, 0xC00, "cycle", cycles, nullptr},
    {0xC01, 0xC01, "time", [](Hart& h) { return h.environment().time(); }, nullptr},
    {0xC02, 0xC02, "instret", instructions, nullptr},
    {0xF11, 0xF13, "mvendorid, marchid, mimpid", zero, nullptr},
    {0xF14, 0xF14, "mhartid", stored<&C::hart_id>, nullptr},
    {0xF15, 0xF15, "mconfigptr", zero, nullptr},
};

}  // namespace

const ControlRegister* find_control_register(std::uint32_t number) {
  for (const ControlRegister& row : rows)
    if (number >= row.first && number <= row.last) return &row;
  return nullptr;
}

}  // namespace t3vp::riscv
