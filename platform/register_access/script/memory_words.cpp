#include "register_access/script/memory_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "protocol/address_map.h"

namespace t3vp {
namespace {

void transport(Gpu& gpu, const MemorySpan& span, tlm::tlm_command command, unsigned char* data) {
  tlm::tlm_generic_payload access;
  access.set_command(command);
  access.set_address(address_map::on_gpu(span.gpu, span.address));
  access.set_data_ptr(data);
  access.set_data_length(static_cast<unsigned>(span.bytes));
  access.set_streaming_width(static_cast<unsigned>(span.bytes));
  if (gpu.processor.socket->transport_dbg(access) != span.bytes)
    throw std::logic_error(fmt::format("GPU {}: memory at {:#x} is not there", span.gpu, span.address));
}

std::vector<unsigned char> bytes_of(const Pattern& pattern, std::uint64_t bytes) {
  std::vector<unsigned char> content(bytes);
  std::uint64_t element = pattern.first;
  for (std::uint64_t at = 0; at < bytes; at += pattern.bytes, element += pattern.step)
    for (std::uint64_t i = 0; i < pattern.bytes; ++i) content[at + i] = static_cast<unsigned char>(element >> 8 * i);
  return content;
}

std::uint64_t element_at(const std::vector<unsigned char>& bytes, std::uint64_t at, unsigned count) {
  std::uint64_t element = 0;
  for (unsigned i = 0; i < count; ++i) element |= std::uint64_t{bytes[at + i]} << 8 * i;
  return element;
}

std::string difference(const MemorySpan& span, const std::vector<unsigned char>& found,
                       const std::vector<unsigned char>& expected, unsigned element) {
  const auto first = std::mismatch(found.begin(), found.end(), expected.begin()).first;
  if (first == found.end()) return {};
  const std::uint64_t at = static_cast<std::uint64_t>(first - found.begin()) / element * element;
  return fmt::format("gpu{}.memory[{:#x}]: found {:#x}, expected {:#x}", span.gpu, span.address + at,
                     element_at(found, at, element), element_at(expected, at, element));
}

}  // namespace

std::vector<unsigned char> bytes_of(Gpu& gpu, const MemorySpan& span) {
  std::vector<unsigned char> content(span.bytes);
  transport(gpu, span, tlm::TLM_READ_COMMAND, content.data());
  return content;
}

void fill(Gpu& gpu, const MemorySpan& span, const Pattern& pattern) {
  std::vector<unsigned char> content = bytes_of(pattern, span.bytes);
  transport(gpu, span, tlm::TLM_WRITE_COMMAND, content.data());
}

std::string difference(Gpu& gpu, const MemorySpan& span, const Pattern& expected) {
  return difference(span, bytes_of(gpu, span), bytes_of(expected, span.bytes), expected.bytes);
}

std::string difference(Gpu& gpu, const MemorySpan& span, Gpu& other_gpu, const MemorySpan& other) {
  return difference(span, bytes_of(gpu, span), bytes_of(other_gpu, other), 1);
}

std::string text_of(Gpu& gpu, const MemorySpan& span, const Pattern& pattern) {
  constexpr std::uint64_t line_bytes = 32;
  const std::vector<unsigned char> content = bytes_of(gpu, span);
  std::string text;
  for (std::uint64_t at = 0; at < span.bytes; at += pattern.bytes) {
    if (at % line_bytes == 0)
      text += fmt::format("{}gpu{}.memory[{:#x}] =", at == 0 ? "" : "\n", span.gpu, span.address + at);
    text += fmt::format(" {:#x}", element_at(content, at, pattern.bytes));
  }
  return text;
}

}  // namespace t3vp
