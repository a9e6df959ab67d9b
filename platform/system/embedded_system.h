// Systems that are built into the program, so that what stands for a machine does not depend on a file of the user's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace t3vp {

/// The content of configs/systems/NAME.json with its memory file's in place of that file's path. NAME is one that
/// platform/io/CMakeLists.txt embeds.
nlohmann::json embedded_system(const std::string& name);

}  // namespace t3vp
