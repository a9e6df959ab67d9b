// The GPU's command processor, running firmware natively: a program is a function on the host that does everything
// through this class, so that all its time is simulated time.
//
// Loosely timed. Only writes to the GPU's own registers run ahead of simulated time, as far as the quantum allows:
// nobody else sees them before the command that follows, and registers that act on being written synchronize. Reads,
// memory and other GPUs are accessed at their own time, so that nothing a program observes depends on the quantum.
//
// A program can have its interrupts taken: then the processor looks at the line after each access, while time passes
// and when interrupts are allowed again, always at the program's own time, and calls the program's entry on its stack
// for as long as the line is up.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "processor/host_network.h"
#include "processor/parameters.h"
#include "protocol/component.h"
#include "protocol/data_protocol.h"
#include "protocol/float_environment.h"
#include "protocol/trace.h"
#include "protocol/units.h"
#include "registers/status.h"

namespace t3vp::processor {

/// A tensor that a program hands to the world outside, to be filled or looked at by debug transport.
struct PublishedBuffer {
  /// Writes all elements, row by row without gaps.
  using Contents = std::function<void(float* values)>;

  std::string name;
  std::uint64_t address = 0;
  std::uint64_t row_stride = 0;  ///< bytes
  std::uint32_t rows = 0, columns = 0;
  ElementType element = ElementType::fp16;
  double tolerance = 0;  ///< by which an element may differ from what is expected
  /// What the buffer has to hold at once, and when the run is over; empty when the program does not say. For
  /// on_publish() alone: they run on the program's stack and read what is there.
  Contents initial = {}, expected = {};
};

class CommandProcessor : public sc_core::sc_module, public Component {
 public:
  using Program = std::function<Status(CommandProcessor&)>;

  /// The program's stack. The page below is inaccessible, so that an overflow is no silent corruption.
  static constexpr std::size_t stack_bytes = 256 << 10;

  /// A phase of the program, which may come again and again, never within itself.
  struct PhaseTime {
    std::string phase;
    Picoseconds first = 0;           ///< begin
    Picoseconds begin = 0, end = 0;  ///< the latest; end is `never` while the phase lasts
    Picoseconds last = 0;            ///< end of the latest that has ended
    Picoseconds spent = 0;           ///< in all that have ended
    std::uint64_t ended = 0;         ///< how often
  };
  static constexpr std::size_t most_phases = 1024;  ///< of a program, by their names
  static constexpr std::size_t most_buffers = 1024;

  /// A register or word of memory that has been read again and again, always with the same value.
  struct Poll {
    std::uint64_t address = 0, value = 0;
    std::uint64_t reads = 0;
  };

  /// Interrupt lines that the program has enabled and found up again and again, the same ones each time that any was: a
  /// handler causes what it is called for, or clears nothing.
  struct Service {
    std::uint64_t lines = 0;  ///< a bit each
    std::uint64_t times = 0;
    Picoseconds first = 0, last = 0;
  };

  tlm_utils::simple_initiator_socket<CommandProcessor, 64> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  CommandProcessor(const sc_core::sc_module_name& name, std::uint16_t gpu, const ProcessorParameters& parameters,
                   Trace* trace = nullptr);

  /// The hosts' network, which outlives this.
  void join(HostNetwork& hosts) { hosts_ = &hosts; }
  /// What runs from the start of simulation on; to be called before it.
  void run(Program program) { program_ = std::move(program); }
  void on_publish(std::function<void(const PublishedBuffer&)> callback) { on_publish_ = std::move(callback); }
  /// Called when a phase begins and ends, at that time, while the program waits: not on the program's stack, so that
  /// the callback may need as much stack as it likes.
  void on_phase(std::function<void(const std::string& phase, bool begin)> callback) { on_phase_ = std::move(callback); }
  /// Called at the time at which a phase begins or ends, too, which the program may be ahead of: it does not wait.
  void on_boundary(std::function<void(const std::string& phase, bool begin)> callback) {
    on_boundary_ = std::move(callback);
  }
  void on_log(std::function<void(const std::string&)> callback) { on_log_ = std::move(callback); }
  /// Called when control passes to the program (true) and from it (false): the host computes what it does in between,
  /// and nothing else can happen.
  void on_control(std::function<void(bool program)> callback) { on_control_ = std::move(callback); }
  /// For what stands between a program and this class, such as its HAL. What the program has made of the host's floats
  /// is the program's alone.
  void tell_control(bool program) {
    if (!program) restore_floats();
    if (!program && has_left_entry(__builtin_frame_address(0))) tell_left_entry();
    if (on_control_) on_control_(program);
  }

  /// Sends the program's wait for an interrupt back to it with Status::stuck; later waits know nothing of it. For the
  /// runner, when the simulation has no more events.
  void give_up_waiting();
  /// It waits for an interrupt, however long that takes.
  bool awaits_interrupt() const { return awaits_interrupt_; }

  std::uint16_t gpu() const { return gpu_; }
  bool finished() const { return finished_; }
  Status status() const { return status_; }  ///< what the program returned
  const sc_core::sc_event& finished_event() const { return finished_event_; }
  /// What the program waits for, in its words; empty while it does not wait.
  const std::string& waits_for() const { return waits_for_; }
  /// What it has read most often since an interrupt last ended a wait of it.
  const Poll& poll() const;
  const Service& service() const { return service_; }
  /// Since when what takes interrupts has not returned; `never` while it does not run.
  Picoseconds serves_since() const { return serves_since_; }
  /// Where the program's own stack ends, above all that is on it; 0 before it runs.
  std::uintptr_t stack_end() const { return stack_end_; }
  /// In the order in which they first began.
  const std::vector<PhaseTime>& phases() const { return phases_; }
  /// What the program has told the world outside and cannot be, such as the end of a phase that has not begun; the
  /// first of them.
  const std::vector<std::string>& mistakes() const { return mistakes_; }
  const std::vector<PublishedBuffer>& buffers() const { return buffers_; }
  const char* group() const override { return "processor"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

  // For programs, from here on. A failed access is a status, never an exception.
  Status read32(std::uint64_t address, std::uint32_t& value);
  Status read64(std::uint64_t address, std::uint64_t& value);
  Status write32(std::uint64_t address, std::uint32_t value);
  Status write64(std::uint64_t address, std::uint64_t value);
  Status read_memory(std::uint64_t address, void* data, std::uint32_t bytes);
  Status write_memory(std::uint64_t address, const void* data, std::uint32_t bytes);

  static constexpr std::uint64_t forever = ~std::uint64_t{0};

  /// The program's own time, which may be ahead of the simulation's.
  std::uint64_t time_ns() const { return local_now() / 1000; }
  /// Returns at once while the interrupt is raised; Status::timeout when time_ns() reaches the deadline first,
  /// Status::stuck by give_up_waiting(). The reason is no string object: one would not be destroyed on the stack of a
  /// program that waits for ever.
  Status wait_for_interrupt(const char* reason, std::uint64_t deadline_ns = forever);
  /// An all-gather with the programs of all GPUs, which come to the same ones in the same order. `all` has room for the
  /// bytes of each. Status::mismatch when they differ in name or bytes, which is a mistake of each; Status::timeout and
  /// Status::stuck as of other waits: the next call goes on with the same one. Status::no_peer without a network.
  Status exchange(const char* name, const void* mine, std::uint64_t bytes, void* all, std::uint64_t deadline_ns);
  using InterruptEntry = void (*)(void* argument);
  /// What takes interrupts; null: nothing does. Until it returns interrupts are held off, as by lock().
  void take_interrupts(InterruptEntry entry, void* argument);
  /// Holds interrupts off until unlock() has been called as often. Other numbers, in the program as a whole or in what
  /// takes an interrupt, are mistakes; behind an interrupt its own are forgotten.
  void lock() { ++locks_; }
  void unlock();
  /// Memory writes before it take effect before everything after it. Those of this processor do anyway; it only sees to
  /// it that the program does not rely on that: a doorbell and writes to other GPUs' registers are refused in between.
  void order_writes() { unordered_writes_ = false; }

  /// A wait beyond the last point in simulated time never returns.
  void wait_ns(std::uint64_t ns);

  void begin(const std::string& phase);
  void end(const std::string& phase);
  void publish(const PublishedBuffer& buffer);
  void log(const std::string& text);
  /// Logs it, and keeps it among the mistakes.
  void log_mistake(const std::string& text);

 private:
  /// Keeps to the processor's own quantum, so that processors with different ones can live in one simulation.
  class Keeper : public tlm_utils::tlm_quantumkeeper {
   public:
    explicit Keeper(Picoseconds quantum) : quantum_(quantum) {}

   protected:
    sc_core::sc_time compute_local_quantum() override {
      return quantum_ == 0 ? sc_core::SC_ZERO_TIME : to_sc_time(quantum_ - now() % quantum_);
    }

   private:
    Picoseconds quantum_;
  };
  struct Boundary {
    std::uint32_t phase;  ///< its place in phases_
    bool begin;
    Picoseconds time;
  };

  void main();
  Status write_register(std::uint64_t address, unsigned char* data, std::uint32_t bytes);
  bool announces(std::uint64_t address) const;
  bool is_interrupted();
  void serve_interrupts();
  bool wait_until_over(const char* reason, Picoseconds deadline);
  void enter(const void* frame);
  bool has_left_entry(const void* frame) const;
  void tell_left_entry();
  Status access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint32_t bytes);
  bool may_run_ahead(tlm::tlm_command command, std::uint64_t address) const;
  Picoseconds local_now() const;
  void wait_until(Picoseconds time, const sc_core::sc_event& event);
  void note_read(std::uint64_t address, std::uint64_t value);
  void note_lines(std::uint64_t lines);
  PhaseTime* find_phase(const std::string& phase);
  void tell_phase(const PhaseTime& phase, bool begin);
  void call_on_phase();
  void call_on_boundary();

  std::uint16_t gpu_;
  Trace* trace_;
  Trace::Track track_ = 0;
  Keeper keeper_;
  Program program_;
  HostNetwork* hosts_ = nullptr;
  /// Of the access under way. None is on the stack of a program, where nothing would destroy it when the program never
  /// returns.
  tlm::tlm_generic_payload transaction_;
  std::function<void(const PublishedBuffer&)> on_publish_;
  std::function<void(const std::string&, bool)> on_phase_, on_boundary_;
  std::function<void(const std::string&)> on_log_;
  std::function<void(bool)> on_control_;
  sc_core::sc_event_queue boundary_{"boundary"};  ///< notified at the times of boundaries_
  sc_core::sc_event finished_event_, give_up_event_, never_, phase_changed_, phase_told_;
  std::string told_phase_;
  bool told_begin_ = false;
  bool finished_ = false, awaits_interrupt_ = false, give_up_ = false;
  InterruptEntry entry_ = nullptr;
  void* entry_argument_ = nullptr;
  std::uint32_t locks_ = 0;
  const void* entry_frame_ = nullptr;  ///< from which the entry has been called; null while it does not run
  Picoseconds serves_since_ = never;
  bool unordered_writes_ = false;  ///< memory has been written since order_writes()
  Status status_ = Status::ok;
  std::string waits_for_;
  std::array<Poll, 4> polls_;  ///< the latest first
  Service service_;
  std::uint32_t enabled_lines_ = 0;  ///< those of the latest write that enabled any; none are inside of most handlers
  std::uintptr_t stack_end_ = 0;
  std::vector<PhaseTime> phases_;
  std::unordered_map<std::string, std::size_t> phase_numbers_;  ///< places in phases_
  std::deque<Boundary> boundaries_;                             ///< that on_boundary_ has to be told of
  bool phase_refused_ = false, buffer_refused_ = false;         ///< for their number
  std::vector<PublishedBuffer> buffers_;
  std::vector<std::string> mistakes_;
  std::uint64_t reads_ = 0, writes_ = 0, failures_ = 0, waits_ = 0;
  Picoseconds waited_ = 0;
};

}  // namespace t3vp::processor
