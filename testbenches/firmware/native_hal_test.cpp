#include "guests/native_hal.h"
#include "guests/hal_misuse.h"

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cfenv>
#include <cstring>

#include "processor/program_bench.h"
#include "protocol/float_environment.h"
#include "t3/t3.h"

namespace t3vp {

/// The platform's function ends the run. The HAL is not misused here.
void end_run_for_call(std::uint16_t, const std::string&) { std::abort(); }

}  // namespace t3vp

namespace t3vp::test::native_hal_test {

using namespace processor;

namespace {

struct Memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<Memory, 64> socket{"socket"};
  std::array<unsigned char, 256> bytes{};
  bool all_standard = true;  ///< the floating-point environment, in each access

  explicit Memory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Memory::transport);
  }
  void transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    all_standard = all_standard && FloatEnvironment::current().is_standard();
    const std::uint64_t address = transaction.get_address();
    if (address + transaction.get_data_length() > bytes.size())
      return transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    unsigned char* data = transaction.get_data_ptr();
    if (transaction.is_read())
      std::memcpy(data, &bytes[address], transaction.get_data_length());
    else
      std::memcpy(&bytes[address], data, transaction.get_data_length());
    delay += sc_core::sc_time(10, sc_core::SC_NS);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

t3_status exercise(const t3_hal* hal, const t3_run* run) {
  uint64_t wide = 0;
  uint32_t narrow = 0;
  T3_TRY(hal->write64(hal->platform, 8, UINT64_C(0x1122334455667788)));
  T3_TRY(hal->write32(hal->platform, 8, run->ring_workgroups));
  T3_TRY(hal->read64(hal->platform, 8, &wide));
  T3_TRY(hal->read32(hal->platform, 12, &narrow));
  if (wide != (UINT64_C(0x1122334400000000) | run->ring_workgroups) || narrow != 0x11223344) return T3_BAD_VALUE;

  const char text[] = "packet";
  char copy[sizeof text];
  T3_TRY(hal->write_memory(hal->platform, 64, text, sizeof text));
  T3_TRY(hal->read_memory(hal->platform, 64, copy, sizeof copy));
  if (std::strcmp(text, copy) != 0) return T3_BAD_VALUE;
  if (hal->read_memory(hal->platform, 0, copy, UINT64_C(1) << 32) != T3_INVALID_ARGUMENT) return T3_BAD_VALUE;

  const uint64_t begin = hal->time_ns(hal->platform);
  if (hal->wait_for_interrupt(hal->platform, begin + 7, NULL) != T3_TIMEOUT) return T3_BAD_VALUE;
  if (hal->time_ns(hal->platform) != begin + 7) return T3_BAD_VALUE;
  hal->mark(hal->platform, "all_gather", true);
  hal->wait_ns(hal->platform, 25);
  hal->mark(hal->platform, "all_gather", false);
  t3_buffer buffer{};
  buffer.name = "out";
  buffer.address = 64;
  buffer.row_stride = 32;
  buffer.rows = 2;
  buffer.columns = 16;
  buffer.element = T3_BF16;
  hal->publish(hal->platform, &buffer);
  hal->log(hal->platform, "done");
  return hal->read32(hal->platform, 1000, &narrow);
}

}  // namespace

TEST_CASE("a C program reaches everything of its processor through the HAL") {
  ProgramBench bench(0);
  Memory memory("memory");
  bench.checks.join(bench.processor.socket, memory.socket);
  std::string logged;
  processor::PublishedBuffer published;
  bench.processor.on_log([&](const std::string& text) { logged = text; });
  bench.processor.on_publish([&](const processor::PublishedBuffer& buffer) { published = buffer; });
  ProgramRun run;
  run.ring_workgroups = 7;
  bench.processor.run(native_program(exercise, run));
  sc_core::sc_start();

  REQUIRE(bench.processor.finished());
  REQUIRE(bench.processor.status() == Status::bad_address);  // its last access
  REQUIRE(logged == "done");
  REQUIRE(published.name == "out");
  REQUIRE((published.address == 64 && published.row_stride == 32 && published.rows == 2 && published.columns == 16));
  REQUIRE(published.element == ElementType::bf16);
  const auto& phases = bench.processor.phases();
  REQUIRE(phases.size() == 1);
  REQUIRE(phases[0].phase == "all_gather");
  REQUIRE(phases[0].end - phases[0].begin == 25'000);
}

namespace {

/// A change of the floating-point environment, and whether it is still there.
struct Change {
  void (*make)();
  bool (*holds)();
};

constexpr Change changes[] = {
    {[] { std::fesetround(FE_UPWARD); }, [] { return std::fegetround() == FE_UPWARD; }},
#if defined(__x86_64__)
    {[] { feenableexcept(FE_INEXACT | FE_INVALID); }, [] { return fegetexcept() == (FE_INEXACT | FE_INVALID); }},
    {[] { _mm_setcsr(_mm_getcsr() | 0x8040); }, [] { return (_mm_getcsr() & 0x8040) == 0x8040; }},
    {[] {
       const std::uint16_t to_double = 0x027F;  // what long double is rounded to
       asm volatile("fldcw %0" : : "m"(to_double));
     },
     [] {
       std::uint16_t control = 0;
       asm volatile("fnstcw %0" : "=m"(control));
       return control == 0x027F;
     }},
#endif
};

/// What the program below has found.
struct Found {
  ProgramBench* bench;
  bool kept = true;      ///< what it has changed, after every call
  bool standard = true;  ///< the environment wherever it was entered
  int entries = 0;
};
Found* found = nullptr;

void leave_another() {
  found->standard = found->standard && FloatEnvironment::current().is_standard();
  ++found->entries;
  std::fesetround(FE_DOWNWARD);
}

t3_status change_floats(const t3_hal* hal, const t3_run*) {
  leave_another();
  hal->take_interrupts(
      hal->platform,
      [](void*) {
        found->bench->interrupt.write(false);
        leave_another();
      },
      nullptr);
  for (const Change& change : changes) {
    const auto after = [&](t3_status) { found->kept = found->kept && change.holds(); };
    FloatEnvironment().use();
    change.make();
    uint32_t value = 0;
    t3_buffer buffer{};
    buffer.name = "out";
    buffer.rows = buffer.columns = 1;
    buffer.initial.kind = T3_CONTENTS_FUNCTION;
    buffer.initial.function = [](const void*, uint32_t, float*) { leave_another(); };
    after(hal->write32(hal->platform, 8, 1));
    after(hal->read32(hal->platform, 8, &value));
    after(hal->read_memory(hal->platform, 8, &value, sizeof value));
    found->bench->interrupt.write(true);
    hal->wait_ns(hal->platform, 100);
    after(T3_OK);
    hal->publish(hal->platform, &buffer);
    after(T3_OK);
  }
  return T3_OK;
}

}  // namespace

TEST_CASE("the platform has the standard floating-point environment and a program keeps its own in every call") {
  ProgramBench bench(0);
  Memory memory("memory");
  bench.checks.join(bench.processor.socket, memory.socket);
  Found here{&bench};
  found = &here;
  bool standard = true;
  bench.processor.on_publish([&](const processor::PublishedBuffer& buffer) {
    float value = 0;
    buffer.initial(&value);
    standard = standard && FloatEnvironment::current().is_standard();
  });
  bench.processor.run(native_program(change_floats, ProgramRun{}));
  sc_core::sc_start();
  CHECK(FloatEnvironment::current().is_standard());
  FloatEnvironment().use();
  REQUIRE(bench.processor.finished());
  CHECK(memory.all_standard);
  CHECK(standard);
  CHECK(here.kept);
  CHECK(here.standard);
  CHECK(here.entries == 1 + 2 * std::size(changes));
}

TEST_CASE("calls that do nothing count as calls") {
  ProgramBench bench(0);
  Memory memory("memory");
  bench.checks.join(bench.processor.socket, memory.socket);
  int passes = 0;
  bench.processor.on_control([&](bool) { ++passes; });
  bench.processor.run(native_program(
      [](const t3_hal* hal, const t3_run*) {
        hal->read_memory(hal->platform, 0, nullptr, 0);
        hal->read_memory(hal->platform, 0, nullptr, 1);
        hal->write_memory(hal->platform, 0, nullptr, 0);
        hal->write_memory(hal->platform, 0, nullptr, UINT64_C(1) << 32);
        hal->read32(hal->platform, 0, nullptr);
        hal->read64(hal->platform, 0, nullptr);
        return T3_OK;
      },
      ProgramRun{}));
  sc_core::sc_start();
  CHECK(passes == 2 + 2 * 6);
}

}  // namespace t3vp::test::native_hal_test
