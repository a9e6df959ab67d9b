#include "run/native_hal.h"

#include <algorithm>
#include <limits>

namespace t3vp {
namespace {

/// A call of the HAL while it lasts, between two stretches of firmware.
class Call {
 public:
  explicit Call(void* platform) : processor_(*static_cast<CommandProcessor*>(platform)) {
    processor_.tell_control(false);
  }
  ~Call() { processor_.tell_control(true); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  CommandProcessor* operator->() const { return &processor_; }

 private:
  CommandProcessor& processor_;
};

// The two enumerations are generated from the same description.
t3_status to_c(Status status) { return static_cast<t3_status>(status); }

t3_status read32(void* platform, uint64_t address, uint32_t* value) {
  if (value == nullptr) return T3_INVALID_ARGUMENT;
  return to_c(Call(platform)->read32(address, *value));
}

t3_status read64(void* platform, uint64_t address, uint64_t* value) {
  if (value == nullptr) return T3_INVALID_ARGUMENT;
  return to_c(Call(platform)->read64(address, *value));
}

t3_status write32(void* platform, uint64_t address, uint32_t value) {
  return to_c(Call(platform)->write32(address, value));
}

t3_status write64(void* platform, uint64_t address, uint64_t value) {
  return to_c(Call(platform)->write64(address, value));
}

bool fits_a_payload(uint64_t bytes) { return bytes <= std::numeric_limits<std::uint32_t>::max(); }

/// Looks at every page of a program's buffer while the program has control: one that ends where the host has no memory
/// is the program's fault, and told so, before the platform uses it.
void touch(const void* data, uint64_t bytes) {
  constexpr uint64_t page = 4096;
  const auto* const begin = static_cast<const volatile unsigned char*>(data);
  for (uint64_t i = 0; i < bytes; i += page) static_cast<void>(begin[i]);
  if (bytes != 0) static_cast<void>(begin[bytes - 1]);
}

/// The same of a buffer that is to be written to.
void touch_writable(void* data, uint64_t bytes) {
  constexpr uint64_t page = 4096;
  auto* const begin = static_cast<volatile unsigned char*>(data);
  for (uint64_t i = 0; i < bytes; i += page) begin[i] = begin[i];
  if (bytes != 0) begin[bytes - 1] = begin[bytes - 1];
}

t3_status read_memory(void* platform, uint64_t address, void* data, uint64_t bytes) {
  if (!fits_a_payload(bytes)) return T3_INVALID_ARGUMENT;
  if (data == nullptr) return T3_BAD_ACCESS;
  touch_writable(data, bytes);
  return to_c(Call(platform)->read_memory(address, data, static_cast<std::uint32_t>(bytes)));
}

t3_status write_memory(void* platform, uint64_t address, const void* data, uint64_t bytes) {
  if (!fits_a_payload(bytes)) return T3_INVALID_ARGUMENT;
  if (data == nullptr) return T3_BAD_ACCESS;
  touch(data, bytes);
  return to_c(Call(platform)->write_memory(address, data, static_cast<std::uint32_t>(bytes)));
}

void order_writes(void* platform) { Call(platform)->order_writes(); }

void take_interrupts(void* platform, void (*entry)(void*), void* argument) {
  Call(platform)->take_interrupts(entry, argument);
}

void lock(void* platform) { Call(platform)->lock(); }

void unlock(void* platform) { Call(platform)->unlock(); }

uint64_t time_ns(void* platform) { return Call(platform)->time_ns(); }

/// Programs may hand over no text at all.
const char* text_or_nothing(const char* text) { return text == nullptr ? "" : text; }

t3_status wait_for_interrupt(void* platform, uint64_t deadline_ns, const char* reason) {
  return to_c(Call(platform)->wait_for_interrupt(text_or_nothing(reason), deadline_ns));
}

void wait_ns(void* platform, uint64_t ns) { Call(platform)->wait_ns(ns); }

void mark(void* platform, t3_phase phase, bool begin) {
  const Call call(platform);
  // A number beyond the 8 bits of Phase must not turn into a known one.
  const auto known = static_cast<Phase>(std::min<unsigned>(static_cast<unsigned>(phase), 0xFF));
  if (begin)
    call->begin(known);
  else
    call->end(known);
}

void publish(void* platform, const t3_buffer* buffer) {
  if (buffer == nullptr || buffer->name == nullptr) return Call(platform)->log("a buffer without a name is published");
  Call(platform)->publish({buffer->name, buffer->address, buffer->row_stride, buffer->rows, buffer->columns,
                           static_cast<ElementType>(buffer->element)});
}

void log(void* platform, const char* text) { Call(platform)->log(text_or_nothing(text)); }

}  // namespace

t3_hal native_hal(CommandProcessor& processor) {
  return {&processor,   processor.gpu(),
          read32,       read64,
          write32,      write64,
          read_memory,  write_memory,
          order_writes, take_interrupts,
          lock,         unlock,
          time_ns,      wait_for_interrupt,
          wait_ns,      mark,
          publish,      log};
}

CommandProcessor::Program native_program(t3_program* program, const t3_job& job) {
  return [program, job](CommandProcessor& processor) {
    const t3_hal hal = native_hal(processor);
    return static_cast<Status>(program(&hal, &job));
  };
}

}  // namespace t3vp
