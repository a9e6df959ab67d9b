#include "guests/native_hal.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "compute/kept_exceptions.h"
#include "guests/hal_misuse.h"
#include "guests/published_contents.h"
#include "protocol/float_environment.h"

namespace t3vp {
namespace {

/// A call of the HAL while it lasts, between two stretches of firmware, which keeps its floating-point environment and
/// the exceptions that it handles.
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
    if (std::uncaught_exceptions() == 0) processor_.tell_control(true);  // else the platform has failed
    if (!floats_.is_standard()) floats_.use();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  processor::CommandProcessor* operator->() const { return &processor_; }

 private:
  processor::CommandProcessor& processor_;
  FloatEnvironment floats_;
  compute::KeptExceptions exceptions_;
};

// A program's data are touched while the program has control. When the machine has no memory for them, the error is
// therefore the program's and is reported as such, before the platform uses the data.

constexpr uint64_t page_bytes = 4096;

void touch(const void* data, uint64_t bytes) {
  const auto* const begin = static_cast<const volatile unsigned char*>(data);
  for (uint64_t i = 0; i < bytes; i += page_bytes) static_cast<void>(begin[i]);
  if (bytes != 0) static_cast<void>(begin[bytes - 1]);
}

/// Touches memory that is to be written.
void touch_writable(void* data, uint64_t bytes) {
  auto* const begin = static_cast<volatile unsigned char*>(data);
  for (uint64_t i = 0; i < bytes; i += page_bytes) begin[i] = begin[i];
  if (bytes != 0) begin[bytes - 1] = begin[bytes - 1];
}

/// Programs may hand over no place for a value at all.
template <typename Value>
void touch_value(Value* value) {
  if (value != nullptr) touch_writable(value, sizeof *value);
}

/// Nor a text.
const char* touched_text(const char* text) {
  if (text == nullptr) return "";
  for (const volatile char* c = text; *c != '\0';) ++c;
  return text;
}

// The two enumerations are generated from the same description.
t3_status to_c(Status status) { return static_cast<t3_status>(status); }

t3_status read32(void* platform, uint64_t address, uint32_t* value) {
  touch_value(value);
  const Call call(platform);
  return value == nullptr ? T3_INVALID_ARGUMENT : to_c(call->read32(address, *value));
}

t3_status read64(void* platform, uint64_t address, uint64_t* value) {
  touch_value(value);
  const Call call(platform);
  return value == nullptr ? T3_INVALID_ARGUMENT : to_c(call->read64(address, *value));
}

t3_status write32(void* platform, uint64_t address, uint32_t value) {
  return to_c(Call(platform)->write32(address, value));
}

t3_status write64(void* platform, uint64_t address, uint64_t value) {
  return to_c(Call(platform)->write64(address, value));
}

/// Why so many bytes cannot be copied from or to there.
std::optional<t3_status> refusal(const void* data, uint64_t bytes) {
  if (bytes > std::numeric_limits<std::uint32_t>::max()) return T3_INVALID_ARGUMENT;
  if (bytes != 0 && data == nullptr) return T3_BAD_ACCESS;
  return {};
}

t3_status read_memory(void* platform, uint64_t address, void* data, uint64_t bytes) {
  const std::optional<t3_status> refused = refusal(data, bytes);
  if (!refused) touch_writable(data, bytes);
  const Call call(platform);
  if (refused || bytes == 0) return refused.value_or(T3_OK);
  return to_c(call->read_memory(address, data, static_cast<std::uint32_t>(bytes)));
}

t3_status write_memory(void* platform, uint64_t address, const void* data, uint64_t bytes) {
  const std::optional<t3_status> refused = refusal(data, bytes);
  if (!refused) touch(data, bytes);
  const Call call(platform);
  if (refused || bytes == 0) return refused.value_or(T3_OK);
  return to_c(call->write_memory(address, data, static_cast<std::uint32_t>(bytes)));
}

void order_writes(void* platform) { Call(platform)->order_writes(); }

void take_interrupts(void* platform, void (*entry)(void*), void* argument) {
  Call(platform)->take_interrupts(entry, argument);
}

void lock(void* platform) { Call(platform)->lock(); }

void unlock(void* platform) { Call(platform)->unlock(); }

uint64_t time_ns(void* platform) { return Call(platform)->time_ns(); }

t3_status wait_for_interrupt(void* platform, uint64_t deadline_ns, const char* reason) {
  const char* const text = touched_text(reason);
  return to_c(Call(platform)->wait_for_interrupt(text, deadline_ns));
}

void wait_ns(void* platform, uint64_t ns) { Call(platform)->wait_ns(ns); }

t3_status exchange(void* platform, const char* name, const void* mine, uint64_t bytes, void* all,
                   uint64_t deadline_ns) {
  constexpr uint64_t most = 1 << 20;
  const char* const text = touched_text(name);
  if (bytes > most || (bytes != 0 && (mine == nullptr || all == nullptr))) {
    const Call call(platform);
    return T3_INVALID_ARGUMENT;
  }
  touch(mine, bytes);
  touch_writable(all, bytes);
  return to_c(Call(platform)->exchange(text, mine, bytes, all, deadline_ns));
}

void mark(void* platform, const char* phase, bool begin) {
  const char* const name = touched_text(phase);
  const Call call(platform);
  if (begin)
    call->begin(name);
  else
    call->end(name);
}

/// Empty when they can be written, else what is wrong with a buffer of such contents.
std::string validate(const t3_contents& said) {
  const bool is_nowhere = (said.kind == T3_CONTENTS_VALUES && said.values == nullptr) ||
                          (said.kind == T3_CONTENTS_FUNCTION && said.function == nullptr);
  return validate_contents(said.kind, !is_nowhere);
}

/// Returns a buffer's contents as the program gives them. They are written when they are requested, in the program's
/// own time.
processor::PublishedBuffer::Contents contents_of(const t3_contents& said, const t3_buffer& buffer, const char* name,
                                                 NativePlatform& platform) {
  if (said.kind == T3_CONTENTS_UNSAID) return {};
  return [said, name, elements = std::size_t{buffer.rows} * buffer.columns, &platform](float* values) {
    processor::CommandProcessor& processor = platform.processor;
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
  touch(buffer, buffer == nullptr ? 0 : sizeof *buffer);
  const char* const name = touched_text(buffer == nullptr ? nullptr : buffer->name);
  const Call call(platform);
  if (buffer == nullptr) return call->log_mistake("publishes no buffer");
  for (const t3_contents* said : {&buffer->initial, &buffer->expected})
    if (const std::string wrong = validate(*said); !wrong.empty())
      return call->log_mistake(fmt::format("publishes a buffer {}: {}", wrong, name));
  // A number beyond the 8 bits of ElementType must not turn into a known one.
  const auto element = static_cast<ElementType>(std::min(buffer->element, std::uint32_t{0xFF}));
  processor::PublishedBuffer published{name,         buffer->address, buffer->row_stride,
                                       buffer->rows, buffer->columns, element};
  published.tolerance = buffer->tolerance;
  published.initial = contents_of(buffer->initial, *buffer, name, *static_cast<NativePlatform*>(platform));
  published.expected = contents_of(buffer->expected, *buffer, name, *static_cast<NativePlatform*>(platform));
  call->publish(published);
}

/// Between two stretches of firmware, as Call is.
Arguments& arguments_of(void* platform) { return static_cast<NativePlatform*>(platform)->arguments; }

bool has_argument(void* platform, const char* name) {
  const char* const text = touched_text(name);
  const Call call(platform);
  return arguments_of(platform).has(text);
}

/// `get` finds the argument of that name.
template <typename Get, typename Value>
t3_status hand_out(void* platform, const char* name, Value* value, Get get) {
  const char* const text = touched_text(name);
  touch_value(value);
  const Call call(platform);
  const auto found = (arguments_of(platform).*get)(text);
  if (value == nullptr || !found) return T3_INVALID_ARGUMENT;
  *value = *found;
  return T3_OK;
}

t3_status argument_u64(void* platform, const char* name, uint64_t* value) {
  return hand_out(platform, name, value, &Arguments::whole_number);
}

t3_status argument_double(void* platform, const char* name, double* value) {
  return hand_out(platform, name, value, &Arguments::number);
}

t3_status argument_bool(void* platform, const char* name, bool* value) {
  return hand_out(platform, name, value, &Arguments::truth);
}

t3_status argument_text(void* platform, const char* name, const char** value) {
  const char* const wanted = touched_text(name);
  touch_value(value);
  const Call call(platform);
  const std::string* const text = arguments_of(platform).text(wanted);
  if (value == nullptr || text == nullptr) return T3_INVALID_ARGUMENT;
  *value = text->c_str();
  return T3_OK;
}

void log(void* platform, const char* text) {
  const char* const line = touched_text(text);
  Call(platform)->log(line);
}

void own_memory(void* platform, uint64_t address, uint64_t bytes, t3_memory_use use) {
  Call(platform)->own_memory(address, bytes, static_cast<std::uint32_t>(use));
}

void error(void* platform, t3_status code, const char* text) {
  const char* const line = touched_text(text);
  Call(platform)->note_error(static_cast<Status>(code), line);
}

/// Nothing here has to be destroyed: a program may never return.
Status run_program(t3_program* program, const t3_run& run, Arguments& arguments,
                   processor::CommandProcessor& processor) {
  NativePlatform platform{processor, arguments};
  const t3_hal hal = native_hal(platform);
  return static_cast<Status>(program(&hal, &run));
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
          exchange,
          mark,
          publish,
          has_argument,
          argument_u64,
          argument_double,
          argument_bool,
          argument_text,
          log,
          own_memory,
          error};
}

processor::CommandProcessor::Program native_program(t3_program* program, const GivenRun& run, Arguments& arguments) {
  return [program, &run, &arguments](processor::CommandProcessor& processor) {
    return run_program(program, run.view(), arguments, processor);
  };
}

processor::CommandProcessor::Program native_program(t3_program* program, ProgramRun run) {
  return [program, run = std::move(run), none = Arguments()](processor::CommandProcessor& processor) mutable {
    const t3_run given = run.view();
    return run_program(program, given, none, processor);
  };
}

}  // namespace t3vp
