// Texts that are built into the program, so that it runs from anywhere.
#pragma once

#include <string>
#include <string_view>

namespace t3vp {

/// A file of configs/schema/ or configs/memory/, configs/workloads/models.json or configs/systems/h200-4.json, by its
/// last name; empty when unknown.
std::string_view embedded_text(const std::string& name);

}  // namespace t3vp
