// Which of the programs of a file a run means.
#pragma once

#include <string>
#include <vector>

#include "io/input_error.h"

namespace t3vp {

/// The position of this name among those of the file's programs; without a name, that of the only one. `file`: what it
/// is, "a library". Throws InputError about one that is not there or is ambiguous.
std::size_t choose_program(const std::vector<std::string>& programs, const std::string& name, const std::string& file,
                           const InputPlace& place);

}  // namespace t3vp
