// The server's side of the GDB remote protocol (GDB manual, appendix E): bytes in, bytes out. It has no socket and does
// not run the program. Its owner does: it asks the server for each thread's action and notifies it when a thread has
// stopped. All threads stop and continue together. Input of the client is answered or dropped, never trusted.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/debuggee.h"
#include "debugger/gdb_packets.h"
#include "debugger/hexadecimal.h"
#include "debugger/stop_points.h"

namespace t3vp::debug {

/// The action of a thread while the program runs.
struct Action {
  enum class Kind { hold, go, step };
  Kind kind = Kind::hold;
  /// A step goes on while the program counter is in this range; an empty one: a single instruction.
  std::uint64_t first = 0, end = 0;
  bool stays_in_range(std::uint64_t pc) const { return pc >= first && pc < end; }
};

struct Stop {
  enum class Reason {
    started,
    stepped,
    software_breakpoint,
    hardware_breakpoint,
    watch,
    interrupted,
    cannot_go_on,
    fault
  };
  Reason reason = Reason::started;
  std::size_t thread = 0;
  StopPoint watch{};    ///< that the thread's last instruction has met
  unsigned signal = 0;  ///< of a fault
};

class GdbServer {
 public:
  enum class State {
    stopped,   ///< it waits for the client
    running,   ///< by action()
    detached,  ///< the client has left: the program goes on without it
    killed,    ///< the client wants it to end
  };

  /// The program has stopped before its first instruction.
  explicit GdbServer(Debuggee& debuggee);

  void receive(std::string_view bytes);
  /// Returns the bytes to be sent since the last call.
  std::string take_output();

  State state() const { return state_; }
  const Action& action(std::size_t thread) const { return actions_[thread]; }
  const StopPoints& stop_points() const { return stop_points_; }
  /// The running program is to be stopped: stop() has to follow.
  bool wants_a_stop() const { return state_ == State::running && interrupted_; }
  /// The thread that the client has chosen, and otherwise the last one that has stopped.
  std::size_t chosen_thread() const { return chosen_; }

  // While it runs.
  void stop(const Stop& stop);
  /// Shown on the client's console.
  void print(std::string_view text);
  /// The program has ended by itself.
  void exit(int code);
  /// The connection is lost.
  void leave() { state_ = State::detached; }

 private:
  using Handler = void (GdbServer::*)(Fields);
  struct Row {
    std::string_view begin;
    Handler handle;
    bool is_whole = false;  ///< nothing comes behind its beginning
  };
  static const Row rows[];

  void handle(const Message& message);
  void handle_packet(const std::string& content);
  void answer(std::string_view content);
  void answer_text(std::string_view text) { answer(escaped(text)); }
  void answer_if(bool is_done) { answer(is_done ? "OK" : malformed); }
  std::string stop_answer() const;
  std::optional<std::size_t> thread_of(std::uint64_t id) const;
  std::optional<std::size_t> thread_field(Fields& fields) const;

  void why_stopped(Fields);
  void read_registers(Fields);
  void write_registers(Fields);
  void read_register(Fields);
  void write_register(Fields);
  void read_memory(Fields);
  void write_memory(Fields);
  void write_binary_memory(Fields);
  void add_stop_point(Fields);
  void remove_stop_point(Fields);
  void choose_thread(Fields);
  void ask_for_thread(Fields);
  void go_on(Fields);
  void go_on_with_signal(Fields);
  void step(Fields);
  void step_with_signal(Fields);
  void list_actions(Fields);
  void resume(Fields);
  void resume_alone(Action::Kind kind, Fields fields);
  bool read_action(Fields fields, std::vector<Action>& actions, std::vector<bool>& is_told) const;
  void run_by(std::vector<Action> actions);
  void detach(Fields);
  void kill(Fields);
  void kill_process(Fields);

  void tell_features(Fields);
  void send_no_acknowledgements(Fields);
  void name_thread(Fields);
  void list_threads(Fields);
  void end_threads(Fields);
  void tell_extra(Fields);
  void tell_attached(Fields);
  void tell_symbols(Fields);
  void tell_description(Fields);
  void tell_thread_list(Fields);
  void send_part(const std::string& document, Fields range);
  void command(Fields);

  static constexpr std::string_view malformed = "E01", refused = "E0e";

  Debuggee& debuggee_;
  PacketReader reader_;
  std::deque<Message> waiting_;  ///< that came while the program ran
  std::string output_, last_answer_;
  State state_ = State::stopped;
  Stop stop_;
  std::vector<Action> actions_;
  StopPoints stop_points_;
  std::size_t chosen_ = 0;     ///< by Hg, and by each stop
  std::size_t to_resume_ = 0;  ///< by Hc, for the packets c and s
  bool acknowledges_ = true, interrupted_ = false;
  bool tells_breakpoints_ = false;  ///< the client understands swbreak and hwbreak
};

}  // namespace t3vp::debug
