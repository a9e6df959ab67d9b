// Buffers of a GPU's memory from outside, by debug transport, which takes no time.
#pragma once

#include <random>

#include "hardware/gpu.h"

namespace t3vp {

/// Whose eyes look: memory holds what a driver, DMA engines and peers see, compute units see their cache first.
enum class SeenBy { memory, compute_units };

/// One row of a buffer.
void transfer(Gpu& gpu, tlm::tlm_command command, const processor::PublishedBuffer& buffer, std::uint32_t row,
              unsigned char* data, SeenBy whom = SeenBy::memory);

/// Reads a row, widened.
void read_row(Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint32_t row, float* values);
/// Writes a row, rounded to the element type.
void write_row(Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint32_t row, const float* values);

/// Values from `least` to 1 that depend on the seeds only.
void fill_randomly(Gpu& gpu, const processor::PublishedBuffer& buffer, std::seed_seq& seeds, float least = -1);

}  // namespace t3vp
