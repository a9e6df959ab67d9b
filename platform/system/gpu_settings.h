// GPUs of a system that are not like the others.
#pragma once

#include "io/json_document.h"
#include "system/system_configuration.h"

namespace t3vp {

/// The list at /gpus of a system file, in which each entry names a GPU and sets parameters by path. Throws InputError
/// about a GPU that there is not or that has two entries, about what is for all GPUs, and about what a system file may
/// not have.
std::vector<OtherGpu> read_other_gpus(const Document& system, const Document& memory, std::uint32_t gpus);

}  // namespace t3vp
