// The registers of a GPU as other tools read them, generated from the descriptions and built into the program.
#pragma once

#include <string_view>

namespace t3vp {

enum class RegisterFormat {
  header,    ///< C11 and C++17, the firmware's constants in one file
  ipxact,    ///< IEEE 1685-2014, a component
  json,      ///< the descriptions in one document
  markdown,  ///< docs/reference/registers.md
  svd        ///< CMSIS-SVD 1.3
};

std::string_view register_export(RegisterFormat format);

}  // namespace t3vp
