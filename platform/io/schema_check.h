// Checks a document against a JSON Schema of configs/schema/, which are built into the program.
#pragma once

#include <string>

#include "io/json_document.h"

namespace t3vp {

/// Throws InputError about the first thing in `document` that the schema ("run", "system", "memory", "models") refuses.
void check_schema(const Document& document, const std::string& schema);

/// Returns in words what a schema admits at one place: "an integer from 1 to 8", "one of all, mirror".
std::string admitted(const nlohmann::json& subschema);

/// Whether the schemas of run, system and memory files know a key, as --set takes it: "memory.timing.CCDWL".
bool is_key_of_run(const std::string& path);

/// Whether they admit nothing but integers for it.
bool is_whole_number(const std::string& path);

}  // namespace t3vp
