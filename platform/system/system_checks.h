// Checks of a system or a memory that no JSON Schema can express.
#pragma once

#include "io/json_document.h"
#include "system/system_configuration.h"

namespace t3vp {

/// Each throws InputError about the first value that contradicts another one or that the models cannot take.
void check_memory(const Document& document, const dram::MemorySpec& spec);
void check_system(const Document& document, const SystemConfiguration& system);

/// The tile of a run file, at `place`, is one that the system's workgroups can compute.
void check_explicit_tile(const Document& run, const char* place, const SystemConfiguration& system, TileShape tile);

/// A DMA block and a packet hold at least a wavefront tile of the run's element type, of the system's largest tile.
void check_tile_fits(const Document& document, const SystemConfiguration& system, ElementType element);

}  // namespace t3vp
