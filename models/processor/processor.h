// The processor that a GPU's firmware runs on, as the rest of the platform sees it. CommandProcessor runs it natively;
// FirmwareCore is a RISC-V core. This class has what both share: a program's reports (phases, tensors, mistakes), what
// it waits for, polls and serves, and the exchange with the programs of other GPUs.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

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
#include "protocol/agenda.h"
#include "protocol/cause.h"
#include "protocol/component.h"
#include "protocol/data_protocol.h"
#include "protocol/order_observer.h"
#include "protocol/trace.h"
#include "protocol/units.h"
#include "registers/memory_use.h"
#include "registers/register_observer.h"
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
  /// The buffer's initial contents, and the contents expected at the end of the run; empty when the program does not
  /// give them. For on_publish() alone: they run on the program's stack and read its present data.
  Contents initial = {}, expected = {};
};

class Processor : public sc_core::sc_module, public Component, public OrderTeller {
 public:
  /// A phase of the program, which may come again and again, never within itself.
  struct PhaseTime {
    std::string phase;
    Picoseconds first = 0;                       ///< begin
    Picoseconds begin = 0, end = 0;              ///< the latest; end is `never` while the phase lasts
    Picoseconds last = 0;                        ///< end of the latest that has ended
    Picoseconds spent = 0;                       ///< in all that have ended
    std::uint64_t ended = 0;                     ///< how often
    TimeParts parts{};                           ///< of `spent`, on the critical path
    Cause cause = {};                            ///< of the latest end
    std::uint32_t first_window = 0, window = 0;  ///< of causes: from the first begin, from the latest
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

  /// A failure of a call of the program's driver, as the driver reports it.
  struct CallError {
    Status code = Status::ok;  ///< ok: there is none
    std::string text;          ///< names the call and the parameter at fault
    Picoseconds time = 0;
  };

  static constexpr std::uint64_t forever = ~std::uint64_t{0};

  tlm_utils::simple_initiator_socket<Processor, 64> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};

  /// The cause of the latest interrupt, which the interrupt lines keep. It outlives this.
  void released_by(const Cause& cause) { interrupt_cause_ = &cause; }
  /// The hosts' network, which outlives this.
  void join(HostNetwork& hosts) { hosts_ = &hosts; }
  void on_publish(std::function<void(const PublishedBuffer&)> callback) { on_publish_ = std::move(callback); }
  /// Called when the program says whose memory is, at that time. The callback returns what is wrong, or nothing.
  void on_memory(std::function<std::string(std::uint64_t address, std::uint64_t bytes, MemoryUse kind)> callback) {
    on_memory_ = std::move(callback);
  }
  /// Called when a phase begins and ends, at that time, while the program waits: not on the program's stack, so that
  /// the callback may need as much stack as it likes.
  void on_phase(std::function<void(const std::string& phase, bool begin)> callback) { on_phase_ = std::move(callback); }
  /// Called at the time at which a phase begins or ends, too, which the program may be ahead of: it does not wait.
  void on_boundary(std::function<void(const std::string& phase, bool begin)> callback) {
    on_boundary_ = std::move(callback);
  }
  void on_log(std::function<void(const std::string&)> callback) { on_log_ = std::move(callback); }
  /// The observer of accesses that do not reach the bus. Null: none.
  void observe(RegisterObserver* observer) { observer_ = observer; }

  /// Called for every access of the program to the node, when it is over. For monitors.
  void on_access(std::function<void(const tlm::tlm_generic_payload&)> callback) { on_access_ = std::move(callback); }

  /// Sends the program's wait for an interrupt back to it with Status::stuck; later waits know nothing of it. For the
  /// runner, when the simulation has no more events.
  void give_up_waiting();
  /// It waits for an interrupt, however long that takes.
  bool awaits_interrupt() const { return awaits_interrupt_; }

  std::uint16_t gpu() const { return gpu_; }
  bool finished() const { return finished_; }
  Status status() const { return status_; }  ///< what the program returned
  /// It has not returned: what it did last could not be done, and is its last mistake.
  bool crashed() const { return crashed_; }
  const sc_core::sc_event& finished_event() const { return finished_event_; }
  /// Returns what the program waits for, in its words; empty while it does not wait.
  const std::string& waits_for() const { return waits_for_; }
  /// Returns the most frequent read since an interrupt last ended a wait of the program.
  const Poll& poll() const;
  const Service& service() const { return service_; }
  /// Accesses of the program to the node, so far.
  std::uint64_t accesses() const { return reads_ + writes_; }
  /// Returns the time since which the interrupt entry has not returned; `never` while it does not run.
  Picoseconds serves_since() const { return serves_since_; }
  /// In the order in which they first began.
  const std::vector<PhaseTime>& phases() const { return phases_; }
  /// Reports of the program that cannot be true, such as the end of a phase that has not begun. Only the first of them
  /// is kept.
  const std::vector<std::string>& mistakes() const { return mistakes_; }
  /// Returns the first failure that the program has not read.
  const CallError& unread_error() const { return unread_error_; }
  const std::vector<PublishedBuffer>& buffers() const { return buffers_; }
  const char* group() const override { return "processor"; }
  void visit_statistics(const StatisticVisitor& visit) const override;

  // For programs, from here on.

  void begin(const std::string& phase);
  void end(const std::string& phase);
  void publish(const PublishedBuffer& buffer);
  /// Says what a range of the GPU's memory is from now on, as t3_hal.h has it.
  void own_memory(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind);
  void log(const std::string& text);
  /// Logs it, and keeps it among the mistakes.
  void log_mistake(const std::string& text);
  /// A call of the driver has failed with this code. With Status::ok the program has read all failures so far.
  void note_error(Status code, const std::string& text);
  /// "...: unlock as often as lock expected, found 1 unlock too many", of calls that hold interrupts off.
  void log_unbalanced(const std::string& what, std::uint32_t count, const char* call);

 protected:
  Processor(const sc_core::sc_module_name& name, std::uint16_t gpu, Trace* trace);

  /// The program's own time, which may be ahead of the simulation's.
  virtual Picoseconds local_now() const = 0;
  /// Lets simulated time come up to it.
  virtual void synchronize() = 0;
  /// Takes interrupts that are up, where the processor does not by itself.
  virtual void serve_interrupts() {}

  /// The program has ended, at this time.
  void finish(bool crashed = false);

  /// What the program does from now on is its own doing: called before an access.
  void act();
  /// Called for every access, when it is over. A read of more than 8 bytes, and one that has failed, has read 0.
  void note_access(const tlm::tlm_generic_payload& access);
  /// Called for an access that is not made.
  void note_refusal() { ++failures_; }
  /// Called for a write of a register, before it is made.
  void note_register_write(std::uint64_t address, std::uint64_t value);
  /// Called before the interrupt entry runs.
  void note_raised_lines();

  void begin_wait(const std::string& reason, Picoseconds deadline);
  void end_wait();
  bool is_given_up() const { return give_up_; }
  const sc_core::sc_event& given_up() const { return give_up_event_; }
  /// An interrupt that has ended a wait: what was polled before is over.
  void forget_polls() { polls_ = {}; }

  /// An all-gather with the programs of all GPUs, which come to the same ones in the same order. `all` has room for the
  /// bytes of each. Status::mismatch when they differ in name or bytes, which is a mistake of each; Status::timeout and
  /// Status::stuck as of other waits: the next call goes on with the same one. Status::no_peer without a network.
  Status exchange_with_hosts(const char* name, const void* mine, std::uint64_t bytes, void* all, Picoseconds deadline);
  /// Waits until all that follows from this time's accesses at once has happened, such as the fall of an interrupt
  /// line.
  void come_to_rest();
  /// Waits for the event, the time or give_up_waiting(), whichever comes first.
  void wait_until(Picoseconds time, const sc_core::sc_event& event);

  /// Writes to the GPU's own registers may: no other block sees them before the command that follows.
  bool may_run_ahead(tlm::tlm_command command, std::uint64_t address) const;

  std::uint16_t gpu_;
  Status status_ = Status::ok;
  std::string waits_for_;
  Picoseconds serves_since_ = never;
  RegisterObserver* observer_ = nullptr;

 private:
  struct Boundary {
    std::uint32_t phase;  ///< its place in phases_
    bool begin;
    Picoseconds time;
  };

  void note_read(std::uint64_t address, std::uint64_t value);
  void follow_interrupt(Picoseconds since);
  void note_lines(std::uint64_t lines);
  PhaseTime* find_phase(const std::string& phase);
  void begin_window(PhaseTime& phase);
  void end_window(PhaseTime& phase);
  void tell_phase(const PhaseTime& phase, bool begin);
  void call_on_phase();
  void call_on_boundary();

  Trace* trace_;
  Trace::Track track_ = 0;
  HostNetwork* hosts_ = nullptr;
  std::function<void(const PublishedBuffer&)> on_publish_;
  std::function<void(const std::string&, bool)> on_phase_, on_boundary_;
  std::function<std::string(std::uint64_t, std::uint64_t, MemoryUse)> on_memory_;
  std::function<void(const std::string&)> on_log_;
  std::function<void(const tlm::tlm_generic_payload&)> on_access_;
  sc_core::sc_event_queue boundary_{"boundary"};  ///< notified at the times of boundaries_
  sc_core::sc_event finished_event_, give_up_event_, phase_changed_, phase_told_, at_rest_;
  Activity rest_{[this] { at_rest_.notify(); }};
  std::string told_phase_;
  bool told_begin_ = false;
  bool finished_ = false, crashed_ = false, awaits_interrupt_ = false, give_up_ = false;
  Picoseconds wait_begin_ = 0;
  std::array<Poll, 4> polls_;  ///< the latest first
  Cause cause_ = Cause::begin();
  const Cause* interrupt_cause_ = nullptr;
  Picoseconds last_read_ = 0;
  Service service_;
  std::uint32_t enabled_lines_ = 0;  ///< those of the latest write that enabled any; none are inside of most handlers
  std::vector<PhaseTime> phases_;
  std::unordered_map<std::string, std::size_t> phase_numbers_;  ///< places in phases_
  std::deque<Boundary> boundaries_;                             ///< that on_boundary_ has to be notified of
  bool phase_refused_ = false, buffer_refused_ = false;         ///< for their number
  std::vector<PublishedBuffer> buffers_;
  std::vector<std::string> mistakes_;
  CallError unread_error_;
  std::uint64_t reads_ = 0, writes_ = 0, failures_ = 0, waits_ = 0;
  Picoseconds waited_ = 0;
};

/// Simulated time ends at 2^64 ps; what comes later never comes.
constexpr Picoseconds latest_time = never - longest_delay;
/// Firmware's clock counts nanoseconds; what is beyond simulated time is `never`.
Picoseconds time_of_firmware(std::uint64_t ns);

}  // namespace t3vp::processor
