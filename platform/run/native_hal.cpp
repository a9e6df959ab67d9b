#include "run/native_hal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "protocol/float_environment.h"
#include "run/hal_misuse.h"

namespace t3vp {
namespace {

/// A call of the HAL while it lasts, between two stretches of firmware, which keeps its floating-point environment.
class Call {
 public:
  explicit Call(void* platform)
      : processor_(static_cast<NativePlatform*>(platform)->processor), floats_(FloatEnvironment::current()) {
    if (const char* buffer = static_cast<NativePlatform*>(platform)->writes_contents_of)
      end_run_for_call(processor_.gpu(), std::string("what writes the contents of ") + buffer +
                                             ", which a program publishes: it computes and does nothing else");
    processor_.tell_control(false);
  }
  ~Call() {
    processor_.tell_control(true);
    if (!floats_.is_standard()) floats_.use();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  processor::CommandProcessor* operator->() const { return &processor_; }

 private:
  processor::CommandProcessor& processor_;
  FloatEnvironment floats_;
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
  if (bytes == 0) return T3_OK;
  if (!fits_a_payload(bytes)) return T3_INVALID_ARGUMENT;
  if (data == nullptr) return T3_BAD_ACCESS;
  touch_writable(data, bytes);
  return to_c(Call(platform)->read_memory(address, data, static_cast<std::uint32_t>(bytes)));
}

t3_status write_memory(void* platform, uint64_t address, const void* data, uint64_t bytes) {
  if (bytes == 0) return T3_OK;
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

void mark(void* platform, const char* phase, bool begin) {
  const Call call(platform);
  if (begin)
    call->begin(text_or_nothing(phase));
  else
    call->end(text_or_nothing(phase));
}

/// Empty when they can be written, else what is wrong with a buffer of such contents.
std::string mistake_of(const t3_contents& said) {
  if (said.kind > T3_CONTENTS_FUNCTION)
    return fmt::format("whose contents are of kind {}, T3_CONTENTS_UNSAID (0) to T3_CONTENTS_FUNCTION ({}) expected",
                       static_cast<std::uint32_t>(said.kind), static_cast<std::uint32_t>(T3_CONTENTS_FUNCTION));
  if ((said.kind == T3_CONTENTS_VALUES && said.values == nullptr) ||
      (said.kind == T3_CONTENTS_FUNCTION && said.function == nullptr))
    return "whose contents are nowhere";
  return {};
}

/// What a program says of a buffer's elements, written when it is asked for, in the program's own time on the host.
processor::PublishedBuffer::Contents contents_of(const t3_contents& said, const t3_buffer& buffer,
                                                 NativePlatform& platform) {
  if (said.kind == T3_CONTENTS_UNSAID) return {};
  return [said, name = text_or_nothing(buffer.name), elements = std::size_t{buffer.rows} * buffer.columns,
          &platform](float* values) {
    const processor::CommandProcessor& processor = platform.processor;
    platform.writes_contents_of = name;
    processor.tell_control(true);
    if (said.kind == T3_CONTENTS_CONSTANT) std::fill_n(values, elements, said.constant);
    if (said.kind == T3_CONTENTS_VALUES) std::copy_n(said.values, elements, values);
    if (said.kind == T3_CONTENTS_FUNCTION) said.function(said.argument, processor.gpu(), values);
    processor.tell_control(false);
    platform.writes_contents_of = nullptr;
  };
}

void publish(void* platform, const t3_buffer* buffer) {
  const Call call(platform);
  if (buffer == nullptr) return call->log_mistake("publishes no buffer");
  for (const t3_contents* said : {&buffer->initial, &buffer->expected})
    if (const std::string wrong = mistake_of(*said); !wrong.empty())
      return call->log_mistake(fmt::format("publishes a buffer {}: {}", wrong, text_or_nothing(buffer->name)));
  // A number beyond the 8 bits of ElementType must not turn into a known one.
  const auto element = static_cast<ElementType>(std::min(buffer->element, std::uint32_t{0xFF}));
  processor::PublishedBuffer published{
      text_or_nothing(buffer->name), buffer->address, buffer->row_stride, buffer->rows, buffer->columns, element};
  published.tolerance = buffer->tolerance;
  published.initial = contents_of(buffer->initial, *buffer, *static_cast<NativePlatform*>(platform));
  published.expected = contents_of(buffer->expected, *buffer, *static_cast<NativePlatform*>(platform));
  call->publish(published);
}

/// Between two stretches of firmware, as Call is.
Arguments& arguments_of(void* platform) { return static_cast<NativePlatform*>(platform)->arguments; }

bool has_argument(void* platform, const char* name) {
  const Call call(platform);
  return arguments_of(platform).has(text_or_nothing(name));
}

template <typename Found, typename Value>
t3_status hand_out(const Found& found, Value* value) {
  if (value == nullptr || !found) return T3_INVALID_ARGUMENT;
  *value = *found;
  return T3_OK;
}

t3_status argument_u64(void* platform, const char* name, uint64_t* value) {
  const Call call(platform);
  return hand_out(arguments_of(platform).whole_number(text_or_nothing(name)), value);
}

t3_status argument_double(void* platform, const char* name, double* value) {
  const Call call(platform);
  return hand_out(arguments_of(platform).number(text_or_nothing(name)), value);
}

t3_status argument_bool(void* platform, const char* name, bool* value) {
  const Call call(platform);
  return hand_out(arguments_of(platform).truth(text_or_nothing(name)), value);
}

t3_status argument_text(void* platform, const char* name, const char** value) {
  const Call call(platform);
  const std::string* const text = arguments_of(platform).text(text_or_nothing(name));
  if (value == nullptr || text == nullptr) return T3_INVALID_ARGUMENT;
  *value = text->c_str();
  return T3_OK;
}

void log(void* platform, const char* text) { Call(platform)->log(text_or_nothing(text)); }

/// Nothing here has to be destroyed: a program may never return.
Status run(t3_program* program, const t3_job& job, Arguments& arguments, processor::CommandProcessor& processor) {
  NativePlatform platform{processor, arguments};
  const t3_hal hal = native_hal(platform);
  return static_cast<Status>(program(&hal, &job));
}

}  // namespace

t3_hal native_hal(NativePlatform& platform) {
  return {&platform,
          platform.processor.gpu(),
          read32,
          read64,
          write32,
          write64,
          read_memory,
          write_memory,
          order_writes,
          take_interrupts,
          lock,
          unlock,
          time_ns,
          wait_for_interrupt,
          wait_ns,
          mark,
          publish,
          has_argument,
          argument_u64,
          argument_double,
          argument_bool,
          argument_text,
          log};
}

processor::CommandProcessor::Program native_program(t3_program* program, const t3_job& job, Arguments& arguments) {
  return [program, job, &arguments](processor::CommandProcessor& processor) {
    return run(program, job, arguments, processor);
  };
}

processor::CommandProcessor::Program native_program(t3_program* program, const t3_job& job) {
  return [program, job, none = Arguments()](processor::CommandProcessor& processor) mutable {
    return run(program, job, none, processor);
  };
}

}  // namespace t3vp
