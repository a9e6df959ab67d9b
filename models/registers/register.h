// The members of a generated register block: registers, arrays of registers and their typed fields.
//
// value(), field() and set() are the block's own view: they ignore access rules and run no callback.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "registers/register_description.h"

namespace t3vp {

/// One register, or all elements of an array: its stored values, its bits by access type, its callbacks.
struct RegisterState {
  const RegisterDescription* description = nullptr;
  std::uint64_t* values = nullptr;   ///< one per element
  std::uint64_t known = 0;           ///< bits that are not reserved
  std::uint64_t readable = 0;        ///< others read as 0
  std::uint64_t replaced = 0;        ///< RW and WO bits
  std::uint64_t cleared_by_one = 0;  ///< W1C bits
  std::uint64_t set_by_one = 0;      ///< W1S bits
  std::uint64_t cleared_by_read = 0;
  bool may_read = false;
  bool may_write = false;
  std::function<void(std::size_t)> on_write;
  std::function<void(std::size_t)> on_read;
  std::function<void(std::size_t)> on_refresh;
};

class RegisterValue {
 public:
  RegisterValue(RegisterState& state, std::size_t element) : stored_(&state.values[element]), known_(state.known) {}

  std::uint64_t value() const { return *stored_; }
  /// Bits beyond the width and reserved bits are dropped.
  void set(std::uint64_t value) { *stored_ = value & known_; }

 private:
  template <typename Type, unsigned shift, unsigned width>
  friend class Field;
  std::uint64_t* stored_;
  std::uint64_t known_;
};

template <typename Type, unsigned shift, unsigned width>
class Field {
 public:
  explicit Field(RegisterValue& owner) : stored_(owner.stored_) {}

  Type operator()() const { return static_cast<Type>((*stored_ & mask) >> shift); }
  void set(Type value) { *stored_ = (*stored_ & ~mask) | ((static_cast<std::uint64_t>(value) << shift) & mask); }

 private:
  static constexpr std::uint64_t mask = (~std::uint64_t{0} >> (64 - width)) << shift;
  std::uint64_t* stored_;
};

/// A single register. Callbacks run in the initiator's thread and must not wait.
template <typename Value = RegisterValue>
class Register : public Value {
 public:
  explicit Register(RegisterState& state) : Value(state, 0), state_(state) {}
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;

  /// It is called after a bus write has been stored. The callback may RegisterBlock::refuse() the write.
  void on_write(std::function<void()> callback) { state_.on_write = ignoring_element(std::move(callback)); }
  /// It is called before a bus read, for side effects. Debug reads do not come here.
  void on_read(std::function<void()> callback) { state_.on_read = ignoring_element(std::move(callback)); }
  /// It is called before a bus or debug read, to compute the value lazily. It must have no side effect.
  void on_refresh(std::function<void()> callback) { state_.on_refresh = ignoring_element(std::move(callback)); }

 private:
  static std::function<void(std::size_t)> ignoring_element(std::function<void()> callback) {
    return [callback = std::move(callback)](std::size_t) { callback(); };
  }
  RegisterState& state_;
};

/// An array of registers. Callbacks receive the element's index.
template <typename Value = RegisterValue>
class RegisterArray {
 public:
  explicit RegisterArray(RegisterState& state) : state_(state) {}
  RegisterArray(const RegisterArray&) = delete;
  RegisterArray& operator=(const RegisterArray&) = delete;

  std::size_t size() const { return state_.description->count; }
  Value operator[](std::size_t element) { return Value(state_, element); }
  const Value operator[](std::size_t element) const { return Value(state_, element); }

  void on_write(std::function<void(std::size_t)> callback) { state_.on_write = std::move(callback); }
  void on_read(std::function<void(std::size_t)> callback) { state_.on_read = std::move(callback); }
  void on_refresh(std::function<void(std::size_t)> callback) { state_.on_refresh = std::move(callback); }

 private:
  RegisterState& state_;
};

}  // namespace t3vp
