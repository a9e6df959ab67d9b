// The contents and the activity of a GPU's blocks in words, for a driver developer at a debugger's prompt. It reads the
// blocks' own diagnoses and changes nothing.
#pragma once

#include <string>

#include "node/node.h"

namespace t3vp {

/// Of a command such as "dma" or "dma 1", of that GPU or else of `gpu`; "help" or nothing is a list of them. What is no
/// command is answered by a line that says what was found and what was expected. Lines with their ends.
std::string monitor(const Node& node, std::size_t gpu, const std::string& words);

}  // namespace t3vp
