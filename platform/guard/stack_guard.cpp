#include "guard/stack_guard.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>
#include <systemc>

#include "guard/firmware_guard.h"
#include "io/exit_code.h"
#include "io/output_file.h"
#include "processor/command_processor.h"
#include "t3/device.h"

namespace t3vp {
namespace {

/// The handler's own stack: there is none left where the signal comes from.
alignas(16) unsigned char handler_stack[64 << 10];

void write_text_to_stderr(std::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // there is nobody left to tell
}

std::uintptr_t stack_pointer(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine->gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine->sp);
#else
  return 0;
#endif
}

/// Pushes access memory right below the stack pointer, functions whatever lies between it and the frame before.
bool is_near(std::uintptr_t address, std::uintptr_t pointer) {
  constexpr std::uintptr_t below = 4 << 10, largest_frame = 256 << 10;
  return pointer != 0 && address + below >= pointer && address < pointer + largest_frame;
}

/// What lies above the stack of the program that runs, such as the end of another one's, is no overflow of it.
bool is_above_stack(std::uintptr_t address, const sc_core::sc_process_handle& process) {
  if (!process.valid() || running_kernel()) return false;
  const auto* const processor = dynamic_cast<const processor::CommandProcessor*>(process.get_parent_object());
  return processor != nullptr && processor->stack_end() != 0 && address >= processor->stack_end();
}

extern "C" void report_invalid_access(int signal_number, siginfo_t* info, void* context) {
  remove_partial_files();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
  if (!is_near(address, stack_pointer(context)) || is_above_stack(address, process)) {
    end_run_of_firmware(signal_number, *info);
    leave_to_host(signal_number);  // the access is repeated and ends the program as usual
    return;
  }
  end_run_of_library(" has overflowed its stack");
  static_assert(processor::CommandProcessor::stack_bytes == 256 << 10);
  write_text_to_stderr("t3vp: stack overflow in ");
  write_text_to_stderr(process.valid() ? process.name() : "the main program");
  static_assert(T3_WAVE_STACK_BYTES == 16 << 10);
  if (const auto kernel = running_kernel()) {
    write_text_to_stderr(": ");
    write_text_to_stderr(*kernel);
    write_text_to_stderr(" has 16 KiB of stack\n");
  } else {
    write_text_to_stderr(process.valid() ? ": firmware has 256 KiB of stack\n" : "\n");
  }
  end_process(failed);
}

}  // namespace

void report_stack_overflows() {
  stack_t stack{};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &report_invalid_access;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace t3vp
