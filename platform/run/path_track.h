// The critical path on the timeline.
#pragma once

#include "node/node.h"
#include "protocol/trace.h"

namespace t3vp {

/// Lets causes keep what the path had from time to time. Called before the simulation runs.
void follow_path();

/// Adds a row with the path to the run's end. A span has the name of the part that most of its time was spent on.
void show_path(const Node& node, Trace& trace);

}  // namespace t3vp
