// The arbitration policies of a run: the platform's and those of the libraries that the run file names.
#pragma once

#include <vector>

#include "io/software_library.h"
#include "memory/policy_choice.h"

namespace t3vp {

/// Opens the libraries of policies. Throws InputError about one that is none, or has a policy that cannot be added.
memory::Policies open_policies(const std::vector<SoftwareLibrary>& libraries);

}  // namespace t3vp
