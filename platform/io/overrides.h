// --set path=value: a value put into a document at a dotted path.
#pragma once

#include <string>
#include <vector>

#include "io/json_document.h"

namespace t3vp {

struct Override {
  std::string text;               ///< as given
  std::vector<std::string> path;  ///< keys, and indices into lists
  nlohmann::json value;           ///< null removes the key
};

/// The value at a dotted path, which is not judged.
Override override_of(const std::string& path, const nlohmann::json& value);

/// Reads "path=value"; a value that is not JSON is a string. Throws InputError.
Override parse_override(const std::string& text);

/// Puts the value into the document; a key that is not there yet is added, for the schema to judge.
void apply_override(Document& document, const Override& override_);

}  // namespace t3vp
