// Elements of a GPU's memory, by debug transport.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/gpu.h"
#include "register_access/script/statement.h"

namespace t3vp {

std::vector<unsigned char> bytes_of(Gpu& gpu, const MemorySpan& span);
void fill(Gpu& gpu, const MemorySpan& span, const Pattern& pattern);

/// The first difference, "gpu0.memory[0x1004]: found 0x5, expected 0x4"; empty when there is none.
std::string difference(Gpu& gpu, const MemorySpan& span, const Pattern& expected);
std::string difference(Gpu& gpu, const MemorySpan& span, Gpu& other_gpu, const MemorySpan& other);

/// A line for each 32 bytes.
std::string text_of(Gpu& gpu, const MemorySpan& span, const Pattern& pattern);

}  // namespace t3vp
