// System and memory files as parameters of the models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/json_document.h"
#include "system/system_configuration.h"

namespace t3vp {

/// Loads a system file with its memory file. Throws InputError.
SystemConfiguration load_system(const std::filesystem::path& file);

/// Loads a memory file; paths of settings go into it ("timing.CCDWL=8"). Throws InputError.
dram::MemorySpec load_memory(const std::filesystem::path& file, const std::vector<std::string>& settings = {});

/// Returns the document that `parent` names or contains at `pointer`; `kind` is how an error names it. Throws
/// InputError.
Document document_at(const Document& parent, const std::string& pointer, const std::string& kind);

/// Returns the memory file of a system. Throws InputError.
Document memory_of(const Document& system);

}  // namespace t3vp
