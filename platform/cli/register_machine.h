// A node without firmware, for `t3vp registers script` and `shell`.
#pragma once

#include <memory>

#include "cli/command_line.h"
#include "cli/register_trace_file.h"
#include "guests/opened_software.h"
#include "register_access/script/session.h"

namespace t3vp {

class RegisterMachine {
 public:
  /// Throws InputError about the system or its number of GPUs.
  explicit RegisterMachine(const RegisterMachineOptions& options);
  ~RegisterMachine();
  RegisterMachine(const RegisterMachine&) = delete;
  RegisterMachine& operator=(const RegisterMachine&) = delete;

  const ScriptMachine& what_there_is() const { return what_there_is_; }
  ScriptSession& session() { return *session_; }
  double time_ns() const;
  /// Puts the trace in its place.
  void complete() { trace_.complete(); }

 private:
  RegisterTraceFile trace_;
  std::unique_ptr<OpenedSoftware> software_;  ///< the kernels
  std::unique_ptr<Node> node_;
  std::unique_ptr<ScriptSession> session_;
  ScriptMachine what_there_is_;
};

}  // namespace t3vp
