// What processes of one build send each other: values one after the other.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "partition/transport.h"

namespace t3vp {

class MessageWriter {
 public:
  template <typename Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* data, std::size_t bytes) {
    const auto* const begin = static_cast<const char*>(data);
    message_.insert(message_.end(), begin, begin + bytes);
  }
  void put_text(const std::string& text) {
    put(text.size());
    put_bytes(text.data(), text.size());
  }
  /// A length, then each item by `put_item`.
  template <typename Items, typename Put>
  void put_all(const Items& items, const Put& put_item) {
    put(items.size());
    for (const auto& item : items) put_item(item);
  }

  bool empty() const { return message_.empty(); }
  Message take() { return std::exchange(message_, {}); }

 private:
  Message message_;
};

class MessageReader {
 public:
  explicit MessageReader(const Message& message) : message_(message) {}

  template <typename Value>
  Value take() {
    Value value;
    take_bytes(&value, sizeof value);
    return value;
  }
  void take_bytes(void* data, std::size_t bytes) {
    if (bytes > message_.size() - at_) throw std::logic_error("a rank's message is shorter than its contents");
    if (bytes != 0) std::memcpy(data, message_.data() + at_, bytes);
    at_ += bytes;
  }
  std::string take_text() {
    std::string text(take<std::size_t>(), '\0');
    take_bytes(text.data(), text.size());
    return text;
  }
  /// Calls `take_item` for each.
  template <typename Take>
  void take_all(const Take& take_item) {
    for (auto left = take<std::size_t>(); left != 0; --left) take_item();
  }
  bool is_at_end() const { return at_ == message_.size(); }

 private:
  const Message& message_;
  std::size_t at_ = 0;
};

template <typename Value>
inline constexpr bool is_vector = false;
template <typename Item>
inline constexpr bool is_vector<std::vector<Item>> = true;

/// Puts plain data, a text, a vector, or a structure whose fields(structure) returns them tied.
template <typename Value>
void put_all_of(MessageWriter& message, const Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>)
    message.put(value);
  else if constexpr (std::is_same_v<Value, std::string>)
    message.put_text(value);
  else if constexpr (is_vector<Value>)
    message.put_all(value, [&](const auto& item) { put_all_of(message, item); });
  else
    std::apply([&](const auto&... field) { (put_all_of(message, field), ...); }, Value::fields(value));
}

/// Takes what put_all_of() has put. The value is empty before.
template <typename Value>
void take_all_of(MessageReader& message, Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>)
    value = message.take<Value>();
  else if constexpr (std::is_same_v<Value, std::string>)
    value = message.take_text();
  else if constexpr (is_vector<Value>)
    message.take_all([&] { take_all_of(message, value.emplace_back()); });
  else
    std::apply([&](auto&... field) { (take_all_of(message, field), ...); }, Value::fields(value));
}

}  // namespace t3vp
