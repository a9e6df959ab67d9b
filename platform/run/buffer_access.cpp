#include "run/buffer_access.h"

#include "protocol/element.h"

namespace t3vp {

PublishedTensor tensor_of(const processor::PublishedBuffer& buffer) {
  return {buffer.name, buffer.address, buffer.row_stride, buffer.rows, buffer.columns, buffer.element};
}

void DebugMemory::transfer(tlm::tlm_command command, const PublishedTensor& tensor, std::uint32_t row,
                           unsigned char* data, SeenBy whom) const {
  const unsigned bytes = tensor.columns * bytes_of(tensor.element);
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(tensor.address + row * tensor.row_stride);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  const bool is_coherent = gpu_.cache.dma != nullptr;  // with atomics everyone reads through the cache
  if (whom == SeenBy::memory && !is_coherent)
    gpu_.processor.socket->transport_dbg(payload);
  else
    gpu_.compute.memory->transport_dbg(payload);
}

void DebugMemory::read(const PublishedTensor& tensor, std::uint32_t row, unsigned char* data, SeenBy whom) const {
  transfer(tlm::TLM_READ_COMMAND, tensor, row, data, whom);
}

void DebugMemory::write(const PublishedTensor& tensor, std::uint32_t row, const unsigned char* data) {
  transfer(tlm::TLM_WRITE_COMMAND, tensor, row, const_cast<unsigned char*>(data), SeenBy::memory);
}

void transfer(Gpu& gpu, tlm::tlm_command command, const processor::PublishedBuffer& buffer, std::uint32_t row,
              unsigned char* data) {
  DebugMemory memory(gpu);
  if (command == tlm::TLM_WRITE_COMMAND)
    memory.write(tensor_of(buffer), row, data);
  else
    memory.read(tensor_of(buffer), row, data, GpuMemory::SeenBy::memory);
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

}  // namespace t3vp
