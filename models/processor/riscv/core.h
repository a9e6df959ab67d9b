// A RISC-V core behind sockets: a hart that fetches and accesses plain memory by DMI and everything else by
// b_transport.
//
// Loosely timed with a quantum of its own. An instruction takes a clock period, an access by b_transport what it
// annotates besides; direct memory costs nothing more. The core runs ahead of simulated time by as many instructions as
// fit into the quantum, no more, and looks at its interrupts at each end of a quantum, behind each access by
// b_transport and when software enables any.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "hart/hart.h"

namespace t3vp::riscv {

struct CoreParameters {
  std::uint64_t hart_id = 0;
  std::uint64_t start = 0;                           ///< where it begins; even
  sc_core::sc_time clock_period{1, sc_core::SC_NS};  ///< of mcycle
  sc_core::sc_time timer_period{1, sc_core::SC_NS};  ///< of the CSR time
  sc_core::sc_time quantum{1, sc_core::SC_US};       ///< 0: in step with simulated time
  std::uint64_t most_steps = ~std::uint64_t{0};      ///< instructions and exceptions after which it halts
};

class Core;

/// Follows a core from one instruction to the next, as a debugger does.
class Follower {
 public:
  virtual ~Follower() = default;
  /// Before the instruction at the hart's pc; interrupts have been taken. It may wait, and may change what it finds.
  virtual void before(Core& core) = 0;
  /// Called after the instruction, and before simulated time continues.
  virtual void after(Core& core) = 0;
};

class Core : public sc_core::sc_module, private Environment {
 public:
  tlm_utils::simple_initiator_socket<Core, 64> socket{"socket"};
  sc_core::sc_in<bool> timer_interrupt{"timer_interrupt"};        ///< mip.MTIP
  sc_core::sc_in<bool> software_interrupt{"software_interrupt"};  ///< mip.MSIP
  sc_core::sc_in<bool> external_interrupt{"external_interrupt"};  ///< mip.MEIP

  Core(const sc_core::sc_module_name& name, const CoreParameters& parameters);
  ~Core() override;

  /// Its registers, for who starts, watches or debugs it; of a running core they are those of its last wait.
  Hart& hart() { return hart_; }
  const Hart& hart() const { return hart_; }
  /// Makes the instruction in flight the last one. The target of the core's access calls this while the core runs.
  void halt();
  bool is_halted() const { return halted_; }
  /// Sets the follower. Null means none, which is faster; the core's behaviour and timing are the same.
  void set_follower(Follower* follower) { follower_ = follower; }
  /// Notes that the program has no handler for its latest exception: who serves the program knows it.
  void note_unhandled_trap() { has_unhandled_trap_ = true; }
  bool has_unhandled_trap() const { return has_unhandled_trap_ || hart_.is_lost(); }
  /// Lets a core that sleeps go on, without an interrupt.
  void wake();
  /// Reads by debug transport: memory and registers as the core sees them, without side effects and in no time. Returns
  /// the number of bytes that were served.
  std::size_t read_debug(std::uint64_t address, unsigned char* data, std::size_t bytes);
  std::size_t write_debug(std::uint64_t address, const unsigned char* data, std::size_t bytes);
  /// Returns the core's time, with the time by which it has run ahead of simulated time.
  sc_core::sc_time local_time() const;

 private:
  class Keeper : public tlm_utils::tlm_quantumkeeper {
   public:
    explicit Keeper(const sc_core::sc_time& quantum) : quantum_(quantum) {}
    /// Returns the time until need_sync(); zero when that is now.
    sc_core::sc_time remaining() const;

   protected:
    sc_core::sc_time compute_local_quantum() override;

   private:
    sc_core::sc_time quantum_;
  };

  void main();
  void run(std::uint64_t steps);
  void run_followed(std::uint64_t steps);
  void sleep();
  std::uint64_t steps_of_quantum() const;
  std::uint64_t pending_interrupts() const;
  void account_for_steps();
  std::size_t debug_access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::size_t bytes);
  bool access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint32_t bytes);
  void ask_for_direct_memory();
  void invalidate_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last);

  bool read(std::uint64_t address, unsigned char* data, std::uint32_t bytes) override;
  bool write(std::uint64_t address, const unsigned char* data, std::uint32_t bytes) override;
  std::uint64_t cycles() override;
  std::uint64_t time() override;
  void look_at_lines() override;

  CoreParameters parameters_;
  Hart hart_;
  Keeper keeper_;
  tlm::tlm_generic_payload transaction_;
  std::uint64_t accounted_steps_ = 0;  ///< whose time the keeper has
  bool halted_ = false, has_unhandled_trap_ = false;
  Follower* follower_ = nullptr;
  sc_core::sc_event woken_;
};

}  // namespace t3vp::riscv
