#include "registers/register_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "protocol/cause.h"
#include "protocol/units.h"
#include "registers/access_rules.h"

namespace t3vp {
namespace {

std::uint64_t offset_of(const RegisterDescription& d, std::size_t element) { return d.offset + element * d.stride; }

std::uint64_t end_of(const RegisterDescription& d) { return offset_of(d, d.count - 1) + d.bytes; }

/// Data on the bus is in the order of the host (IEEE 1666-2011, 14.18).
std::uint64_t load(const unsigned char* data, std::uint32_t bytes) {
  std::uint64_t wide = 0;
  std::uint32_t narrow = 0;
  std::memcpy(bytes == sizeof narrow ? static_cast<void*>(&narrow) : &wide, data, bytes);
  return bytes == sizeof narrow ? narrow : wide;
}

void store(unsigned char* data, std::uint32_t bytes, std::uint64_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  std::memcpy(data, bytes == sizeof narrow ? static_cast<const void*>(&narrow) : &value, bytes);
}

}  // namespace

RegisterBlock::RegisterBlock(const sc_core::sc_module_name& name, const BlockDescription& description)
    : sc_module(name), description_(description) {
  lay_out();
  reset();
  socket.register_b_transport(this, &RegisterBlock::b_transport);
  socket.register_transport_dbg(this, &RegisterBlock::transport_dbg);
}

RegisterBlock::~RegisterBlock() = default;

void RegisterBlock::lay_out() {
  std::size_t elements = 0;
  std::uint64_t end = 0;
  for (const RegisterDescription& d : description_.registers) {
    elements += d.count;
    end = std::max(end, end_of(d));
  }
  values_.resize(elements);
  slots_.assign((end + 3) / 4, Slot{no_register, 0});
  states_.reserve(description_.registers.size());

  std::uint64_t* values = values_.data();
  for (const RegisterDescription& d : description_.registers) {
    const auto number = static_cast<std::uint16_t>(states_.size());
    states_.push_back(initial_state(d, values));
    values += d.count;
    for (std::uint16_t element = 0; element < d.count; ++element)
      for (std::uint64_t word = 0; word < d.bytes / 4; ++word)
        slots_[offset_of(d, element) / 4 + word] = {number, element};
  }
}

void RegisterBlock::end_of_elaboration() {
  if (reset_line.size() == 0) return;
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&reset_line->posedge_event());
  sc_core::sc_spawn([this] { reset(); }, "on_reset_line", &options);
}

void RegisterBlock::reset() {
  for (RegisterState& s : states_) std::fill_n(s.values, s.description->count, s.description->reset);
  written_low_ = read_high_ = {};
  if (on_reset_) on_reset_();
}

const RegisterBlock::Slot* RegisterBlock::slot_at(std::uint64_t address) const {
  const std::uint64_t word = address / 4;
  if (word >= slots_.size() || slots_[word].number == no_register) return nullptr;
  return &slots_[word];
}

void RegisterBlock::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  transaction.set_dmi_allowed(false);
  transaction.set_response_status(access(transaction, delay));
  if (observer_ != nullptr) tell(transaction, delay);
}

tlm::tlm_response_status RegisterBlock::access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address();
  const Slot* slot = slot_at(address);
  if (slot == nullptr) return no_register_at(address);

  RegisterState& state = states_[slot->number];
  const std::uint64_t offset = offset_of(*state.description, slot->element);
  const std::uint32_t bytes = transaction.get_data_length(), width = state.description->bytes;
  const bool half = width == 8 && bytes == 4 && (address == offset || address == offset + 4);
  const bool fits = (half || (address == offset && bytes == width)) && transaction.get_streaming_width() >= bytes &&
                    transaction.get_data_ptr() != nullptr;
  if (!fits || transaction.get_byte_enable_ptr() != nullptr) return bad_shape(state, slot->element, transaction);

  if (state.description->synchronized && delay != sc_core::SC_ZERO_TIME) {
    const Cause cause = cause_at(now() + from_sc_time(delay), Part::launch);
    sc_core::wait(delay);
    Cause::current() = cause;  // others have run meanwhile
    delay = sc_core::SC_ZERO_TIME;
  }
  if (observer_ != nullptr) {
    if (state.on_refresh) state.on_refresh(slot->element);
    before_ = state.values[slot->element];
  }
  unsigned char* data = transaction.get_data_ptr();
  const bool high = address != offset;
  std::uint64_t value = 0;
  tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;
  if (transaction.is_read()) {
    response = half ? read_half(state, slot->element, high, value) : read(state, slot->element, value);
    if (response == tlm::TLM_OK_RESPONSE) store(data, bytes, value);
  } else if (transaction.is_write()) {
    value = load(data, bytes);
    response = half ? write_half(state, slot->element, high, static_cast<std::uint32_t>(value))
                    : write(state, slot->element, value);
  }
  return response;
}

/// A refused access has changed nothing, so that it does not matter whether it was served at all.
void RegisterBlock::tell(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay) const {
  const std::uint32_t bytes = transaction.get_data_length();
  const bool has_value = (bytes == 4 || bytes == 8) && transaction.get_data_ptr() != nullptr;
  RegisterAccess told;
  told.time = now() + from_sc_time(delay);
  told.who = "processor";
  told.address = base_ + transaction.get_address();
  told.bytes = bytes;
  told.writes = transaction.is_write();
  told.is_refused = !transaction.is_response_ok();
  if (has_value) told.value = load(transaction.get_data_ptr(), bytes);
  const Slot* slot = slot_at(transaction.get_address());
  if (slot != nullptr) told.after = states_[slot->number].values[slot->element];
  told.before = told.is_refused ? told.after : before_;
  observer_->accessed(told);
}

void RegisterBlock::tell_write(RegisterAccess access) const {
  access.time = now();
  access.writes = true;
  access.before = access.after = access.value;
  observer_->accessed(access);
}

/// TLM_OK_RESPONSE when the register can be read.
tlm::tlm_response_status RegisterBlock::refuse_read(const RegisterState& state, std::size_t element) {
  return state.may_read ? tlm::TLM_OK_RESPONSE : denied(state, element, "read, expected writes only");
}

/// TLM_OK_RESPONSE when the register can be written now.
tlm::tlm_response_status RegisterBlock::refuse_write(const RegisterState& state, std::size_t element,
                                                     std::uint64_t written) {
  if (!state.may_write) return denied(state, element, fmt::format("{:#x} written, expected reads only", written));
  if (state.description->locked_while_busy && locked_ && locked_())
    return denied(state, element,
                  fmt::format("{:#x} written while {}: locked until that has ended", written, lock_reason_));
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::read_half(RegisterState& state, std::size_t element, bool high,
                                                  std::uint64_t& value) {
  const std::uint64_t* const of = &state.values[element];
  if (high) {
    const tlm::tlm_response_status refused = refuse_read(state, element);
    if (refused != tlm::TLM_OK_RESPONSE) return refused;
    if (read_high_.of != of) return half_without_low(state, element, "read");
    value = read_high_.bits;
    read_high_ = {};
    return tlm::TLM_OK_RESPONSE;
  }
  const tlm::tlm_response_status response = read(state, element, value);
  if (response == tlm::TLM_OK_RESPONSE) read_high_ = {of, static_cast<std::uint32_t>(value >> 32)};
  return response;
}

tlm::tlm_response_status RegisterBlock::write_half(RegisterState& state, std::size_t element, bool high,
                                                   std::uint32_t written) {
  const std::uint64_t* const of = &state.values[element];
  const tlm::tlm_response_status refused = refuse_write(state, element, written);
  if (refused != tlm::TLM_OK_RESPONSE) return refused;
  if (!high) {
    written_low_ = {of, written};
    return tlm::TLM_OK_RESPONSE;
  }
  if (written_low_.of != of) return half_without_low(state, element, "written");
  return write(state, element, std::uint64_t{written} << 32 | written_low_.bits);
}

tlm::tlm_response_status RegisterBlock::read(RegisterState& state, std::size_t element, std::uint64_t& value) {
  const tlm::tlm_response_status refused = refuse_read(state, element);
  if (refused != tlm::TLM_OK_RESPONSE) return refused;
  access_ = {&state, element, false, 0, false};
  if (state.on_read) state.on_read(element);
  if (access_.refused) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (state.on_refresh) state.on_refresh(element);

  value = state.values[element] & state.readable;
  state.values[element] &= ~state.cleared_by_read;
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status RegisterBlock::write(RegisterState& state, std::size_t element, std::uint64_t written) {
  if (written_low_.of == &state.values[element]) written_low_ = {};
  const tlm::tlm_response_status refused = refuse_write(state, element, written);
  if (refused != tlm::TLM_OK_RESPONSE) return refused;
  if (!is_legal(state, written)) return bad_value(state, element, written);

  const std::uint64_t before = state.values[element];
  state.values[element] = value_after_write(state, before, written);
  access_ = {&state, element, true, written, false};
  if (state.on_write) state.on_write(element);
  if (!access_.refused) return tlm::TLM_OK_RESPONSE;
  state.values[element] = before;
  return tlm::TLM_GENERIC_ERROR_RESPONSE;
}

unsigned RegisterBlock::transport_dbg(tlm::tlm_generic_payload& transaction) {
  const std::uint64_t address = transaction.get_address();
  const unsigned length = transaction.get_data_length();
  unsigned char* data = transaction.get_data_ptr();
  if (data == nullptr) return 0;
  if (transaction.is_write()) return debug_write(address, data, length);
  unsigned done = 0;
  while (transaction.is_read() && done < length && debug_read(address + done, data[done])) ++done;
  return done;
}

/// Shows what is stored, of write-only registers too.
bool RegisterBlock::debug_read(std::uint64_t address, unsigned char& byte) {
  const Slot* slot = slot_at(address);
  if (slot == nullptr) return false;
  RegisterState& state = states_[slot->number];
  if (state.on_refresh) state.on_refresh(slot->element);
  const std::uint64_t first_bit = (address - offset_of(*state.description, slot->element)) * 8;
  byte = static_cast<unsigned char>(state.values[slot->element] >> first_bit);
  return true;
}

/// Stores whole registers whatever their access type, and stops at the first illegal value.
unsigned RegisterBlock::debug_write(std::uint64_t address, const unsigned char* data, unsigned length) {
  unsigned done = 0;
  while (done < length) {
    const Slot* slot = slot_at(address + done);
    if (slot == nullptr) break;
    RegisterState& state = states_[slot->number];
    const RegisterDescription& d = *state.description;
    if (address + done != offset_of(d, slot->element) || length - done < d.bytes) break;
    const std::uint64_t value = load(data + done, d.bytes);
    if (!is_legal(state, value)) break;
    state.values[slot->element] = value;
    done += d.bytes;
  }
  return done;
}

}  // namespace t3vp
