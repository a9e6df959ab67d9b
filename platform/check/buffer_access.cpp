#include "check/buffer_access.h"

#include <cmath>

#include "protocol/element.h"

namespace t3vp {

void transfer(Gpu& gpu, tlm::tlm_command command, const processor::PublishedBuffer& buffer, std::uint32_t row,
              unsigned char* data, SeenBy whom) {
  const unsigned bytes = buffer.columns * bytes_of(buffer.element);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(buffer.address + row * buffer.row_stride);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  if (whom == SeenBy::memory)
    gpu.processor.socket->transport_dbg(payload);
  else
    gpu.compute.memory->transport_dbg(payload);
}

void read_row(Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint32_t row, float* values) {
  std::vector<unsigned char> bytes(std::size_t{buffer.columns} * bytes_of(buffer.element));
  transfer(gpu, tlm::TLM_READ_COMMAND, buffer, row, bytes.data());
  widen_elements(buffer.element, bytes.data(), values, buffer.columns);
}

void write_row(Gpu& gpu, const processor::PublishedBuffer& buffer, std::uint32_t row, const float* values) {
  std::vector<unsigned char> bytes(std::size_t{buffer.columns} * bytes_of(buffer.element));
  narrow_elements(buffer.element, values, bytes.data(), buffer.columns);
  transfer(gpu, tlm::TLM_WRITE_COMMAND, buffer, row, bytes.data());
}

void fill_randomly(Gpu& gpu, const processor::PublishedBuffer& buffer, std::seed_seq& seeds, float least) {
  std::mt19937_64 random(seeds);
  std::vector<float> values(buffer.columns);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) {
    // Drawn from the bits, since the standard's distributions differ between libraries.
    for (float& value : values) value = std::ldexp(static_cast<float>(random() >> 40), -24) * (1 - least) + least;
    write_row(gpu, buffer, i, values.data());
  }
}

}  // namespace t3vp
