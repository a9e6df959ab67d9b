// Which of the programs of a file a run means.
#pragma once

#include <string>
#include <vector>

#include "io/input_error.h"

namespace t3vp {

/// Returns the position of this name among the file's programs; without a name, that of the only one. `file` names the
/// kind of file, such as "a library". Throws InputError about a name that is missing or ambiguous.
std::size_t choose_program(const std::vector<std::string>& programs, const std::string& name, const std::string& file,
                           const InputPlace& place);

}  // namespace t3vp
