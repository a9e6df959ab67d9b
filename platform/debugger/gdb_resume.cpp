// The client's packets that resume the program: vCont, and the older c and s.
#include <algorithm>

#include "debugger/gdb_server.h"

namespace t3vp::debug {
namespace {

/// "SIGNAL[;ADDRESS]": the address is left.
bool take_signal(Fields& fields) {
  return fields.number() && (fields.is_at_end() || (fields.take(";") && !fields.is_at_end()));
}

}  // namespace

void GdbServer::list_actions(Fields) { answer("vCont;c;C;s;S;t;r"); }

/// "ACTION[:THREAD];...", of which the first that fits counts for each thread; one without a thread fits all.
void GdbServer::resume(Fields fields) {
  std::vector<Action> actions(actions_.size());
  std::vector<bool> is_told(actions_.size(), false);
  for (bool has_another = true; has_another;) {
    has_another = fields.rest().find(';') != std::string_view::npos;
    if (!read_action(Fields(fields.until(';')), actions, is_told)) return answer(malformed);
  }
  run_by(std::move(actions));
}

bool GdbServer::read_action(Fields fields, std::vector<Action>& actions, std::vector<bool>& is_told) const {
  Action action;
  const bool has_signal = fields.rest().substr(0, 1) == "C" || fields.rest().substr(0, 1) == "S";
  if (fields.take("c") || fields.take("C")) {
    action.kind = Action::Kind::go;
  } else if (fields.take("s") || fields.take("S")) {
    action.kind = Action::Kind::step;
  } else if (fields.take("r")) {
    const std::optional<std::uint64_t> first = fields.number();
    const std::optional<std::uint64_t> end = fields.take(",") ? fields.number() : std::nullopt;
    if (!first || !end) return false;
    action = {Action::Kind::step, *first, *end};
  } else if (!fields.take("t")) {
    return false;
  }
  if (has_signal && !fields.number()) return false;  // the signal's number does not matter: no process would take it
  std::optional<std::size_t> thread;
  if (fields.take(":") && !fields.take("-1")) {
    thread = thread_field(fields);
    if (!thread) return false;
  }
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (is_told[i] || (thread && *thread != i)) continue;
    actions[i] = action;
    is_told[i] = true;
  }
  return fields.is_at_end();
}

void GdbServer::run_by(std::vector<Action> actions) {
  const bool anyone =
      std::any_of(actions.begin(), actions.end(), [](const Action& a) { return a.kind != Action::Kind::hold; });
  if (!anyone) return answer(malformed);
  actions_ = std::move(actions);
  state_ = State::running;
}

void GdbServer::go_on(Fields fields) { resume_alone(Action::Kind::go, fields); }

void GdbServer::go_on_with_signal(Fields fields) {
  if (!take_signal(fields)) return answer(malformed);
  resume_alone(Action::Kind::go, fields);
}

void GdbServer::step(Fields fields) { resume_alone(Action::Kind::step, fields); }

void GdbServer::step_with_signal(Fields fields) {
  if (!take_signal(fields)) return answer(malformed);
  resume_alone(Action::Kind::step, fields);
}

/// "[ADDRESS]": the thread that Hc has chosen does it, all others go on.
void GdbServer::resume_alone(Action::Kind kind, Fields fields) {
  if (!fields.is_at_end()) {
    const std::optional<std::uint64_t> address = fields.number();
    if (!address || !fields.is_at_end()) return answer(malformed);
    if (!debuggee_.write_register(to_resume_, debuggee_.program_counter(), *address)) return answer(malformed);
  }
  std::vector<Action> actions(actions_.size(), Action{Action::Kind::go});
  actions[to_resume_].kind = kind;
  run_by(std::move(actions));
}

}  // namespace t3vp::debug
