// A debugger on the RISC-V cores of a simulation, a thread each. While they are stopped, nothing is simulated: a core
// that stops waits for the client inside its own process, or the simulation's loop does (look_for_interrupt()).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "debugger/connection.h"
#include "debugger/gdb_server.h"
#include "riscv/core.h"

namespace t3vp {

class CoreDebugger : private debug::Debuggee {
 public:
  struct DebuggedCore {
    riscv::Core* core;
    std::string name;
  };
  /// Returns the text that `monitor` shows for a core.
  using Monitor = std::function<std::string(std::size_t core, const std::string& words)>;

  /// Limits in wall-clock time.
  struct Times {
    debug::HostClock::time_point until = debug::without_end;  ///< the client is given up then, and the cores end
    std::function<void(bool stands)> on_stand;                ///< the run stands still for the client, or goes on
  };

  /// The cores must not have begun. The client is waited for before the first instruction of any. Lines on standard
  /// error say how the wait goes, and when the client leaves.
  CoreDebugger(debug::TcpPort& port, std::vector<DebuggedCore> cores, Monitor monitor, Times times);
  ~CoreDebugger() override;

  /// Stops if the client wants it, or one has come back, wherever the cores are. To be called between pieces of the
  /// simulation, since cores that sleep do not look.
  void look_for_interrupt();
  /// Lets the client inspect the state before a deadlocked run ends: `why` is a line. When its time is over the client
  /// is only notified.
  void show_end(const std::string& why);
  /// The run is over with this exit code.
  void exit(int code);
  /// The client wants the run to end.
  bool is_killed() const { return server_->state() == debug::GdbServer::State::killed; }
  /// The time was over before a client has come.
  bool has_waited_in_vain() const { return is_late_ && !has_begun_; }

 private:
  class Thread;

  std::size_t threads() const override;
  std::string thread_name(std::size_t thread) const override;
  std::string description() const override;
  unsigned general_registers() const override;
  unsigned program_counter() const override;
  std::optional<std::uint64_t> read_register(std::size_t thread, unsigned number) override;
  bool write_register(std::size_t thread, unsigned number, std::uint64_t value) override;
  std::string read_memory(std::size_t thread, std::uint64_t address, std::size_t bytes) override;
  bool write_memory(std::size_t thread, std::uint64_t address, std::string_view bytes) override;
  std::string monitor(std::size_t thread, const std::string& words) override;

  bool is_running() const { return server_->state() == debug::GdbServer::State::running; }
  std::vector<std::unique_ptr<Thread>> threads_of(std::vector<DebuggedCore> cores);
  void begin();
  std::unique_ptr<debug::Connection> wait_for_client();
  void tell_of_stranger(const std::string& what) const;
  void look_for_return();
  void receive();
  void hear(debug::HostClock::time_point until);
  void stop(const debug::Stop& stop);
  void serve();
  std::optional<std::size_t> asleep_alone() const;
  void part();
  void follow(bool follows);

  debug::TcpPort& port_;
  std::unique_ptr<debug::Connection> connection_;  ///< null while there is no client
  std::vector<std::unique_ptr<Thread>> threads_;
  Monitor monitor_;
  Times times_;
  bool has_begun_ = false, is_late_ = false;
  std::optional<debug::GdbServer> server_;  ///< a new one for each client
  sc_core::sc_event resumed_;
};

}  // namespace t3vp
