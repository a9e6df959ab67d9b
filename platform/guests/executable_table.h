// The table t3_exports of an executable for RISC-V, as far as it can be checked before a core runs it.
#pragma once

#include <string>

#include "config/elf_file.h"
#include "io/input_error.h"

namespace t3vp {

/// Checks it as that of a native library, and that it has the program of this name, or a single one when that is empty.
/// An executable without such a symbol, that of a main() of its own or one that is stripped, is left to itself. Throws
/// InputError.
void require_program(const ElfFile& image, const std::string& program, const InputPlace& place);

}  // namespace t3vp
