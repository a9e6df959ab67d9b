// The contents and the activity of a GPU's blocks in words, for a driver developer at a debugger's prompt. It reads the
// blocks' own diagnoses and changes nothing.
#pragma once

#include <string>

#include "node/node.h"

namespace t3vp {

/// Returns the text of a command such as "dma" or "dma 1", for that GPU or else for `gpu`. "help" or nothing gives a
/// list of commands. An unknown command gives a line with the word found and the words expected. Lines have their ends.
std::string monitor(const Node& node, std::size_t gpu, const std::string& words);

}  // namespace t3vp
