// A workload as programs receive it: its name, and its arguments in bytes.
#pragma once

#include <string>
#include <vector>

namespace t3vp {

struct PackedWorkload {
  std::string name;  ///< empty: there is none
  std::vector<unsigned char> bytes;
};

}  // namespace t3vp
