// Lets the statements of a script act on a node without firmware, one after the other.
//
// Registers are accessed by the bus of their GPU's command processor, as firmware does, and take time; memory is filled
// and looked at by debug transport, past the caches and in no time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "node/node.h"
#include "register_access/script/statement.h"

namespace t3vp {

class ScriptSession {
 public:
  struct Outcome {
    std::string shown;    ///< what a read has found, for people; may be several lines
    std::string failure;  ///< what was found and what was expected; empty: all is well
  };

  /// Before the node's simulation begins; one session a process. The node outlives it.
  explicit ScriptSession(Node& node);
  ~ScriptSession();
  ScriptSession(const ScriptSession&) = delete;
  ScriptSession& operator=(const ScriptSession&) = delete;

  /// Simulates until the statement is done, and no further.
  Outcome execute(const Statement& statement);

 private:
  class Executor;
  std::unique_ptr<Executor> executor_;
};

/// Returns the names that scripts on the node may use.
ScriptMachine machine_of(const Node& node);

}  // namespace t3vp
