// Buffers of a GPU's memory from outside, by debug transport, which takes no time.
#pragma once

#include "node/gpu.h"
#include "workloads/operations.h"

namespace t3vp {

PublishedTensor tensor_of(const processor::PublishedBuffer& buffer);

/// A GPU's memory by debug transport.
class DebugMemory : public GpuMemory {
 public:
  explicit DebugMemory(Gpu& gpu) : gpu_(gpu) {}

  std::uint32_t gpu() const override { return gpu_.processor.gpu(); }
  void read(const PublishedTensor& tensor, std::uint32_t row, unsigned char* data, SeenBy whom) const override;
  void write(const PublishedTensor& tensor, std::uint32_t row, const unsigned char* data) override;

 private:
  void transfer(tlm::tlm_command command, const PublishedTensor& tensor, std::uint32_t row, unsigned char* data,
                SeenBy whom) const;

  Gpu& gpu_;
};

/// One row of a buffer.
void transfer(Gpu& gpu, tlm::tlm_command command, const processor::PublishedBuffer& buffer, std::uint32_t row,
              unsigned char* data);

/// Reads a row, widened.
void read_row(Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint32_t row, float* values);
/// Writes a row, rounded to the element type.
void write_row(Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint32_t row, const float* values);

}  // namespace t3vp
