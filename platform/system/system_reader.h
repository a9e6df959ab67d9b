// A system file's and a memory file's content as parameters of the models. Schemas have been checked before.
#pragma once

#include "io/json_document.h"
#include "system/system_configuration.h"

namespace t3vp {

/// Each throws InputError for what no schema can say: powers of two, sizes that have to divide each other or hold one
/// another, times that contradict each other.
dram::MemorySpec read_memory(const Document& memory);
SystemConfiguration read_system(const Document& system, const Document& memory);

/// "128x256"; the schema has checked it.
TileShape read_tile(const nlohmann::json& text);

}  // namespace t3vp
