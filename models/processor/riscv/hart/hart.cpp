#include "hart/hart.h"

namespace t3vp::riscv {
namespace {

constexpr std::uint64_t of_interrupt = std::uint64_t{1} << 63;  // in mcause

std::uint64_t refuse_fetch(Hart& hart, const Instruction& instruction, std::uint64_t pc) {
  return hart.raise(Cause::fetch_access, pc, pc + static_cast<std::uint64_t>(instruction.immediate));
}

/// Which raises the exception when it is executed: the parcel that cannot be fetched is `offset` bytes behind its
/// begin.
Instruction unfetchable(std::int32_t offset) {
  Instruction instruction;
  instruction.execute = refuse_fetch;
  instruction.immediate = offset;
  return instruction;
}

/// Exceptions that come again each time, whatever happens elsewhere.
bool comes_again(Cause cause) {
  return cause == Cause::fetch_access || cause == Cause::illegal_instruction || cause == Cause::breakpoint ||
         cause == Cause::machine_call;
}

}  // namespace

Hart::Hart(Environment& environment, std::uint64_t hart_id, std::uint64_t start)
    : pc(start), environment_(environment), cache_(cached_instructions) {
  control.hart_id = hart_id;
}

void Hart::run(std::uint64_t steps) {
  const std::uint64_t end = steps_ + steps;
  paused_ = false;
  while (steps_ != end && !paused_ && !sleeps()) {
    sleeps_ = false;
    take_interrupt();
    limit_ = end;
    if (observer_ != nullptr)
      execute<true>();
    else
      execute<false>();
  }
}

template <bool observed>
void Hart::execute() {
  std::uint64_t at = pc;
  while (steps_ < limit_) {
    const Instruction& instruction = instruction_at(at);
    const std::uint64_t exceptions = exceptions_, next = instruction.execute(*this, instruction, at);
    if (observed && exceptions == exceptions_) observer_->retired(*this, at, instruction);
    at = next;
    ++steps_;
  }
  pc = at;
}

void Hart::pause() {
  paused_ = true;
  look_at_interrupts();
}

void Hart::sleep() {
  sleeps_ = true;
  look_at_interrupts();
}

void Hart::forget_instructions() {
  for (Instruction& instruction : cache_) instruction.pc = Instruction::nowhere;
}

const Instruction* Hart::decoded(std::uint64_t address) const {
  const Instruction& cached = cache_[(address >> 1) % cached_instructions];
  return cached.pc == address ? &cached : nullptr;
}

const Instruction& Hart::instruction_at(std::uint64_t address) {
  const Instruction& cached = cache_[(address >> 1) % cached_instructions];
  return cached.pc == address ? cached : fetch(address);
}

const Instruction& Hart::fetch(std::uint64_t address) {
  std::uint32_t word = 0, upper = 0;
  bool is_direct = true;
  if (!fetch_parcel(address, word, is_direct)) return uncached_ = unfetchable(0);
  if (!is_compressed(word)) {
    if (!fetch_parcel(address + 2, upper, is_direct)) return uncached_ = unfetchable(2);
    word |= upper << 16;
  }
  Instruction& place = is_direct ? cache_[(address >> 1) % cached_instructions] : uncached_;
  place = decode(word);
  if (is_direct) place.pc = address;
  return place;
}

/// An instruction outside of direct memory is fetched again each time.
bool Hart::fetch_parcel(std::uint64_t address, std::uint32_t& parcel, bool& is_direct) {
  std::uint16_t value = 0;
  const unsigned char* const data = direct_memory_.readable(address, sizeof value);
  if (data != nullptr) std::memcpy(&value, data, sizeof value);
  is_direct = is_direct && data != nullptr;
  parcel = value;
  if (data != nullptr) return true;
  const bool read = environment_.read(address, reinterpret_cast<unsigned char*>(&value), sizeof value);
  parcel = value;
  return read;
}

/// One that is not aligned is made byte by byte, in direct memory or not.
bool Hart::load_elsewhere(std::uint64_t address, unsigned char* data, std::uint32_t bytes) {
  if (address % bytes == 0) return environment_.read(address, data, bytes);
  for (std::uint32_t i = 0; i < bytes; ++i)
    if (!load(address + i, data[i])) return false;
  return true;
}

bool Hart::store_elsewhere(std::uint64_t address, const unsigned char* data, std::uint32_t bytes) {
  if (address % bytes == 0) return environment_.write(address, data, bytes);
  for (std::uint32_t i = 0; i < bytes; ++i)
    if (!store(address + i, data[i])) return false;
  return true;
}

/// External before software before timer (privileged ISA, 3.1.9).
void Hart::take_interrupt() {
  const std::uint64_t ready = control.mie_bit && !holds_interrupts_ ? control.mip & control.mie : 0;
  for (const Interrupt interrupt : {Interrupt::external, Interrupt::software, Interrupt::timer}) {
    if ((ready & interrupt_bit(interrupt)) == 0) continue;
    const std::uint64_t cause = of_interrupt | static_cast<std::uint64_t>(interrupt);
    last_trap_ = {cause, pc, retired()};
    pc = enter_trap(cause, pc, 0);
    return;
  }
}

std::uint64_t Hart::raise(Cause cause, std::uint64_t at, std::uint64_t value) {
  if (!control.mie_bit && is_begin_of_handler(cause, at, value)) look_at_handler(cause, at);
  last_trap_ = {static_cast<std::uint64_t>(cause), at, retired()};
  ++exceptions_;
  return enter_trap(static_cast<std::uint64_t>(cause), at, value);
}

/// Its first instruction, or one that it has come to straight from there and which accesses memory around its stack
/// pointer in vain.
bool Hart::is_begin_of_handler(Cause cause, std::uint64_t at, std::uint64_t value) const {
  if (at == handler()) return true;
  if (!last_trap_ || (cause != Cause::load_access && cause != Cause::store_access)) return false;
  constexpr std::uint64_t stack_pointer = 2, reach = 2048;  // of an instruction's offset
  const std::uint64_t done = retired() - last_trap_->retired, distance = at - handler();
  const bool is_straight = distance >= 2 * done && distance <= 4 * done;
  return is_straight && value - x[stack_pointer] + reach < 2 * reach;
}

/// A trap within the handler means that the hart is lost. A trap that may differ the next time must come twice.
void Hart::look_at_handler(Cause cause, std::uint64_t at) {
  const bool follows = last_trap_ && (at != handler() || last_trap_->retired == retired());
  const bool is_again = follows && last_trap_->pc == at;
  if (!is_again) first_trap_ = follows ? last_trap_ : std::nullopt;
  if (!is_again && (at != handler() || !comes_again(cause))) return;
  lost_ = true;
  pause();
}

std::uint64_t Hart::enter_trap(std::uint64_t cause, std::uint64_t at, std::uint64_t value) {
  if (observer_ != nullptr) observer_->trapped(at, cause, value);
  control.mepc = at;
  control.mcause = cause;
  control.mtval = value;
  control.mpie_bit = control.mie_bit;
  control.mie_bit = false;
  reservation = {};
  const bool is_vectored = (control.mtvec & 1) != 0 && (cause & of_interrupt) != 0;
  return is_vectored ? handler() + 4 * (cause & ~of_interrupt) : handler();
}

std::uint64_t Hart::return_from_trap() {
  last_trap_.reset();
  control.mie_bit = control.mpie_bit;
  control.mpie_bit = true;
  look_at_interrupts();
  return control.mepc;
}

}  // namespace t3vp::riscv
