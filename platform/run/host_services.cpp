#include "run/host_services.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "guests/firmware_image.h"
#include "guests/published_contents.h"
#include "hart/trap_text.h"
#include "protocol/address_map.h"
#include "t3/address.h"
#include "t3/exports.h"
#include "t3/host_buffer.h"

namespace t3vp {
namespace {

static_assert(sizeof(void*) == 8, "structures of the host are those of the core");

template <typename Type>
const Type* as_pointer(std::uint64_t address) {
  return reinterpret_cast<const Type*>(static_cast<std::uintptr_t>(address));  // of the core's memory
}

/// Returns the text about mtval for a trap with this cause: the address of an access, or the instruction. It is empty
/// for other causes.
std::string value_of_trap(std::uint64_t cause, std::uint64_t value) {
  switch (static_cast<riscv::Cause>(cause)) {
    case riscv::Cause::fetch_access:
    case riscv::Cause::load_misaligned:
    case riscv::Cause::load_access:
    case riscv::Cause::store_misaligned:
    case riscv::Cause::store_access:
      return fmt::format(", address {:#x}", value);
    case riscv::Cause::illegal_instruction:
      return fmt::format(", instruction {:#x}", value);
    default:
      return {};
  }
}

}  // namespace

HostServices::HostServices(processor::FirmwareCore& core, const CoreProgram& program, Arguments& arguments)
    : core_(core), program_(program), arguments_(arguments), memory_end_(core.memory().base() + core.memory().bytes()) {
  load(program.image, core.memory());
  if (!program.name.empty()) name_ = put(program.name);
  for (const auto& [name, value] : arguments.values())
    if (const auto* const text = std::get_if<std::string>(&value)) texts_[name] = put(*text);
  run_ = put_run(program.run);
  core.on_call([this](std::uint64_t address) { rung(address); });
  core.name_places([&image = program.image](std::uint64_t address) { return place_in(image, address); });
  core.run(program.image.entry());
}

/// At the end of what is free.
std::uint64_t HostServices::put(const void* data, std::uint64_t bytes) {
  constexpr std::uint64_t alignment = 16;
  const std::uint64_t address = (memory_end_ - bytes) / alignment * alignment;
  unsigned char* const place = core_.memory().at(address, bytes);
  if (place == nullptr) throw std::runtime_error("the arguments are larger than the core's memory");
  if (bytes != 0) std::memcpy(place, data, bytes);
  return memory_end_ = address;
}

/// Copies the run with the addresses that its pointers have in the core's memory, and returns the copy's address.
std::uint64_t HostServices::put_run(const ProgramRun& run) {
  t3_run given = run.view();
  if (given.workload != nullptr) {
    given.workload = as_pointer<char>(put(run.workload.name));
    given.arguments = as_pointer<unsigned char>(put(given.arguments, given.argument_bytes));
  }
  return put(&given, sizeof given);
}

void HostServices::change_run(const ProgramRun& to) {
  unsigned char* const place = core_.memory().at(run_, sizeof(t3_run));
  t3_run given;
  std::memcpy(&given, place, sizeof given);
  given.arbitration = to.arbitration;
  given.arbitration_limit = to.arbitration_limit;
  std::memcpy(place, &given, sizeof given);
  if (given.argument_bytes == 0) return;
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(given.arguments));
  std::memcpy(core_.memory().at(address, given.argument_bytes), to.workload.bytes.data(), given.argument_bytes);
}

HostServices::Answer HostServices::answer_to(std::uint32_t call) {
  switch (call) {
    case T3_HOST_CALL_CALL_START:
      return &HostServices::start;
    case T3_HOST_CALL_CALL_END:
      return &HostServices::end;
    case T3_HOST_CALL_CALL_FAULT:
      return &HostServices::fault;
    case T3_HOST_CALL_CALL_PANIC:
      return &HostServices::panic;
    case T3_HOST_CALL_CALL_LOG:
      return &HostServices::log;
    case T3_HOST_CALL_CALL_ERROR:
      return &HostServices::error;
    case T3_HOST_CALL_CALL_MISTAKE:
      return &HostServices::mistake;
    case T3_HOST_CALL_CALL_MARK_BEGIN:
      return &HostServices::mark_begin;
    case T3_HOST_CALL_CALL_MARK_END:
      return &HostServices::mark_end;
    case T3_HOST_CALL_CALL_PUBLISH:
      return &HostServices::publish;
    case T3_HOST_CALL_CALL_WANTS_CONTENTS:
      return &HostServices::wants_contents;
    case T3_HOST_CALL_CALL_REFUSAL:
      return &HostServices::refusal;
    case T3_HOST_CALL_CALL_WAIT:
      return &HostServices::wait;
    case T3_HOST_CALL_CALL_WAIT_FOR_EVER:
      return &HostServices::wait_for_ever;
    case T3_HOST_CALL_CALL_GIVEN_UP:
      return &HostServices::given_up;
    case T3_HOST_CALL_CALL_WAIT_END:
      return &HostServices::wait_end;
    case T3_HOST_CALL_CALL_INTERRUPT:
      return &HostServices::interrupt;
    case T3_HOST_CALL_CALL_INTERRUPT_END:
      return &HostServices::interrupt_end;
    case T3_HOST_CALL_CALL_UNLOCKED:
      return &HostServices::unlocked;
    case T3_HOST_CALL_CALL_EXCHANGE:
      return &HostServices::exchange;
    case T3_HOST_CALL_CALL_HAS_ARGUMENT:
      return &HostServices::has_argument;
    case T3_HOST_CALL_CALL_ARGUMENT_U64:
      return &HostServices::argument_u64;
    case T3_HOST_CALL_CALL_ARGUMENT_DOUBLE:
      return &HostServices::argument_double;
    case T3_HOST_CALL_CALL_ARGUMENT_BOOL:
      return &HostServices::argument_bool;
    case T3_HOST_CALL_CALL_ARGUMENT_TEXT:
      return &HostServices::argument_text;
    case T3_HOST_CALL_CALL_OWN_MEMORY:
      return &HostServices::own_memory;
    default:
      return nullptr;
  }
}

void HostServices::rung(std::uint64_t address) {
  unsigned char* const bytes = core_.memory().at(address, T3_HOST_CALL_BYTES);
  if (bytes == nullptr)
    return core_.log_mistake(
        fmt::format("rings its host services for a call at {:#x}, which is not all in its memory", address));
  t3_host_call call = t3_host_call_from(bytes);
  const Answer answer = answer_to(call.call);
  if (answer == nullptr)
    return core_.log_mistake(fmt::format("asks its host services for call {}, which there is not", call.call));
  (this->*answer)(call);
  t3_host_call_to(&call, bytes);
}

/// Programs may hand over no text at all.
std::string HostServices::text_at(std::uint64_t address) {
  if (address == 0) return {};
  const processor::CoreMemory& memory = core_.memory();
  const auto* const text = memory.at(address, 1);
  const std::uint64_t room = text == nullptr ? 0 : memory.bytes() - (address - memory.base());
  const void* const end = text == nullptr ? nullptr : std::memchr(text, '\0', room);
  if (end != nullptr) return std::string(reinterpret_cast<const char*>(text));
  core_.log_mistake(fmt::format("hands over a text at {:#x}, which is not all in its memory", address));
  return {};
}

void HostServices::start(t3_host_call& call) {
  if (call.data != T3_EXPORTS_VERSION || call.value != T3_EXPORTS_LAYOUT)
    return core_.crash(
        fmt::format("has been built with headers of version {}, layout {:#x}: version {}, layout {:#x} "
                    "expected; build {} anew",
                    call.data, call.value, T3_EXPORTS_VERSION, T3_EXPORTS_LAYOUT, program_.image.file().string()));
  call.text = name_;
  call.data = run_;
  call.result = memory_end_;
}

void HostServices::end(t3_host_call& call) {
  core_.end(static_cast<Status>(call.value), static_cast<std::uint32_t>(call.bytes));
}

static_assert(processor::FirmwareCore::first_page_bytes == T3_FIRST_PAGE_BYTES,
              "the driver's heap begins behind the page that cores are refused");

/// An overflow of the stack, which begins where memory does, meets what is below, where nothing is.
std::string HostServices::reason_of(const t3_host_call& fault) const {
  constexpr std::uint64_t fetch_access = 1, breakpoint = 3, load_access = 5, store_access = 7;
  const processor::CoreMemory& memory = core_.memory();
  const std::uint64_t address = fault.result, memory_end = memory.base() + memory.bytes();
  const auto is_below_stack = [&memory](std::uint64_t place) {
    return place >= address_map::core_first_page + processor::FirmwareCore::first_page_bytes && place < memory.base();
  };
  const bool is_access = fault.value == load_access || fault.value == store_access;
  if (fault.value == breakpoint)
    return ": a compiler puts one where a program cannot go on, such as at a null pointer that it has seen";
  if (is_access && is_below_stack(fault.bytes) && is_below_stack(address)) return ": its stack has overflowed";
  if (address < processor::FirmwareCore::first_page_bytes && (is_access || fault.value == fetch_access))
    return ": where a null pointer leads, the first page of the node is refused to cores";
  if (fault.value == store_access && memory.at(address, 1) != nullptr && !memory.may_write(address, 1))
    return ": code or constants, which cannot be written";
  if ((is_access || fault.value == fetch_access) && address >= memory_end && address >> 40 == memory_end >> 40)
    return fmt::format(": behind the core's memory, which ends at {:#x}", memory_end - 1);
  return {};
}

void HostServices::fault(t3_host_call& call) {
  core_.core.note_unhandled_trap();
  core_.crash(fmt::format("has a trap that nobody handles: {} at pc {}{}{}; ra {}, sp {:#x}",
                          riscv::name_of_trap(call.value), place_in(program_.image, call.data),
                          value_of_trap(call.value, call.result), reason_of(call), place_in(program_.image, call.text),
                          call.bytes));
}

void HostServices::panic(t3_host_call& call) { core_.crash(text_at(call.text)); }

void HostServices::log(t3_host_call& call) { core_.log(text_at(call.text)); }

void HostServices::error(t3_host_call& call) { core_.note_error(static_cast<Status>(call.value), text_at(call.text)); }

void HostServices::mistake(t3_host_call& call) { core_.log_mistake(text_at(call.text)); }

void HostServices::mark_begin(t3_host_call& call) { core_.begin(text_at(call.text)); }

void HostServices::mark_end(t3_host_call& call) { core_.Processor::end(text_at(call.text)); }

void HostServices::wants_contents(t3_host_call& call) { call.result = program_.wants_contents; }

processor::PublishedBuffer::Contents HostServices::contents_of(std::uint32_t kind, float constant, std::uint64_t values,
                                                               std::uint64_t elements, std::string& mistake) {
  if (kind == T3_CONTENTS_UNSAID) return {};
  const auto* const data = kind == T3_CONTENTS_VALUES ? core_.memory().at(values, elements * sizeof(float)) : nullptr;
  if (const std::string wrong = validate_contents(kind, kind == T3_CONTENTS_CONSTANT || data != nullptr);
      !wrong.empty())
    mistake = wrong;
  return [=](float* to) {
    if (kind == T3_CONTENTS_CONSTANT)
      std::fill_n(to, elements, constant);
    else
      std::memcpy(to, data, elements * sizeof(float));
  };
}

void HostServices::publish(t3_host_call& call) {
  const unsigned char* const bytes = core_.memory().at(call.data, T3_HOST_BUFFER_BYTES);
  if (bytes == nullptr) return core_.log_mistake("publishes no buffer");
  const t3_host_buffer buffer = t3_host_buffer_from(bytes);
  const std::string name = text_at(buffer.name);
  const std::uint64_t elements = std::uint64_t{buffer.rows} * buffer.columns;
  std::string mistake;
  // A number beyond the 8 bits of ElementType must not turn into a known one.
  const auto element = static_cast<ElementType>(std::min(buffer.element, std::uint32_t{0xFF}));
  processor::PublishedBuffer published{name, buffer.address, buffer.row_stride, buffer.rows, buffer.columns, element};
  std::memcpy(&published.tolerance, &buffer.tolerance, sizeof published.tolerance);
  published.expected =
      contents_of(buffer.expected_kind, buffer.expected_constant, buffer.expected_values, elements, mistake);
  published.initial =
      contents_of(buffer.initial_kind, buffer.initial_constant, buffer.initial_values, elements, mistake);
  if (!mistake.empty()) return core_.log_mistake(fmt::format("publishes a buffer {}: {}", mistake, name));
  core_.publish(published);
}

void HostServices::own_memory(t3_host_call& call) {
  core_.own_memory(call.data, call.bytes, static_cast<std::uint32_t>(call.value));
}

void HostServices::refusal(t3_host_call& call) { call.result = static_cast<std::uint64_t>(core_.refusal()); }

void HostServices::wait(t3_host_call& call) { core_.begin_wait(text_at(call.text), call.value); }

void HostServices::wait_for_ever(t3_host_call& call) {
  core_.sleep_for_ever(fmt::format("{} ns to pass, which simulated time does not reach", call.value));
}

void HostServices::given_up(t3_host_call& call) { call.result = core_.is_given_up(); }

void HostServices::wait_end(t3_host_call&) { core_.end_wait(); }

void HostServices::interrupt(t3_host_call& call) { call.result = core_.begin_interrupt(); }

void HostServices::interrupt_end(t3_host_call& call) { core_.end_interrupt(static_cast<std::uint32_t>(call.value)); }

void HostServices::unlocked(t3_host_call&) { core_.log_unbalanced("allows interrupts", 1, "unlock"); }

void HostServices::exchange(t3_host_call& call) {
  constexpr std::uint64_t most = 1 << 20;
  const std::string name = text_at(call.text);
  const unsigned char* const mine = core_.memory().at(call.data, call.bytes);
  unsigned char* const all = core_.memory().at(call.result, call.bytes * program_.gpus);
  const bool is_right = call.bytes <= most && (call.bytes == 0 || (mine != nullptr && all != nullptr));
  call.status = is_right ? static_cast<std::uint32_t>(core_.exchange(name.c_str(), mine, call.bytes, all, call.value))
                         : static_cast<std::uint32_t>(T3_INVALID_ARGUMENT);
}

namespace {

template <typename Value>
void answer(t3_host_call& call, const std::optional<Value>& value) {
  call.status = value ? T3_OK : T3_INVALID_ARGUMENT;
  call.result = 0;
  if (value) std::memcpy(&call.result, &*value, sizeof *value);
}

}  // namespace

void HostServices::has_argument(t3_host_call& call) { call.result = arguments_.has(text_at(call.text)); }

void HostServices::argument_u64(t3_host_call& call) { answer(call, arguments_.whole_number(text_at(call.text))); }

void HostServices::argument_double(t3_host_call& call) { answer(call, arguments_.number(text_at(call.text))); }

void HostServices::argument_bool(t3_host_call& call) { answer(call, arguments_.truth(text_at(call.text))); }

void HostServices::argument_text(t3_host_call& call) {
  const std::string name = text_at(call.text);
  const bool is_there = arguments_.text(name) != nullptr;
  answer(call, is_there ? std::optional(texts_.at(name)) : std::nullopt);
}

}  // namespace t3vp
