// All keys of the user's files: those of *.parameters.json, and those of the schemas of run, experiment and models
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/json_document.h"

namespace t3vp {

struct DescribedKey {
  const char* file;      ///< kind of the file that has the key: run, experiment, models, system or memory
  const char* section;   ///< keys from the file's top, with dots; empty: the top
  const char* name;      ///< the key in its section
  const char* path;      ///< as --set takes it; what it does not change has "experiment." or "models." before
  const char* unit;      ///< empty: it has none
  const char* range;     ///< what it may be, for people
  const char* fallback;  ///< what holds without it, for people: "required", or the default
  const char* text;      ///< what it means
  const char* formerly;  ///< the path from the file's top that it once had; empty: this one
  const char* value;     ///< the default as JSON; empty: none that a file can have
  bool same_on_all_gpus, power_of_two;
  std::uint32_t multiple_of;  ///< 0: of nothing

  /// From the file's top, with dots.
  std::string path_in_file() const;
};

/// In the order of the reference.
const std::vector<DescribedKey>& described_keys();

/// Returns the keys whose path contains `pattern`, or matches it when it is a glob. Upper and lower case are the same.
std::vector<DescribedKey> keys_like(const std::string& pattern);

/// A line for each: path, unit, range, default and meaning, in columns.
std::string key_table(const std::vector<DescribedKey>& keys);

/// Powers of two and multiples, which no JSON Schema has. Throws InputError.
void check_described(const Document& document, const std::string& file);

/// Writes down the defaults of keys that are left out. A section that is left out gets them when none of its keys is
/// required.
void complete_described(nlohmann::json& content, const std::string& file);

/// Returns the present path of a key that files formerly had at this path; empty when there is none.
std::string new_path_of(const std::string& file, const std::string& former);

}  // namespace t3vp
