#include "guests/program_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace t3vp {

std::size_t choose_program(const std::vector<std::string>& programs, const std::string& name, const std::string& file,
                           const InputPlace& place) {
  if (programs.empty())
    place.reject(file + " without programs", "a library that has a program, or an executable for RISC-V");
  if (name.empty() && programs.size() > 1)
    place.reject(fmt::format("{} of the programs {}", file, fmt::join(programs, ", ")),
                 "FILE:NAME, to choose one of them");
  if (name.empty()) return 0;
  const auto found = std::find(programs.begin(), programs.end(), name);
  if (found == programs.end())
    place.reject(fmt::format("{} of {}", file, fmt::join(programs, ", ")), "one of its programs behind the colon");
  return static_cast<std::size_t>(found - programs.begin());
}

}  // namespace t3vp
