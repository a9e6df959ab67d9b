// The executables for RISC-V cores: the one that the platform comes with, and where an executable goes.
#pragma once

#include <filesystem>

#include "config/elf_file.h"
#include "io/input_error.h"
#include "processor/core_memory.h"

namespace t3vp {

/// The file of all programs that the platform comes with, beside the program t3vp or where it is installed. Throws
/// InputError about the run file's `firmware` when there is none.
std::filesystem::path built_in_image(const InputPlace& firmware);

/// Copies an executable to a core's memory, where the core cannot write what only segments have that are not writable.
/// Throws InputError when it is not for there.
void load(const ElfFile& image, processor::CoreMemory& memory);

/// "0xfffffe008004001c (t3_gemm+0x1c)", with the function or object of the image that the address is in; without when
/// there is none.
std::string place_in(const ElfFile& image, std::uint64_t address);

}  // namespace t3vp
