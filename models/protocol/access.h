// The contents of a data-path access, apart from its transport. Plain C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "registers/element.h"
#include "registers/traffic_class.h"

namespace t3vp {

/// The memory controller's two streams (T3 4.5).
enum class Stream : std::uint8_t { compute, communication };

/// An update adds to memory in the element type, near memory (T3 4.3). A wait is answered when the addressed signal
/// has reached the value in DataExtension::threshold. A fetch-and-add adds DataExtension::addend to an integer in
/// memory and returns what was there before. On links a load or fetch-and-add is a request, and what comes back an
/// answer.
enum class Operation : std::uint8_t { load, store, update, wait, fetch_add, request, answer };

/// The initiator gets data, or the end of a wait; the others bring some, or a message.
constexpr bool is_read(Operation operation) {
  return operation == Operation::load || operation == Operation::wait || operation == Operation::fetch_add;
}

constexpr const char* name_of(Operation operation) {
  constexpr const char* names[] = {"load", "store", "update", "wait", "fetch-and-add", "request", "answer"};
  return operation > Operation::answer ? "unknown operation" : names[static_cast<std::size_t>(operation)];
}

constexpr std::uint32_t bytes_of(ElementType type) { return type == ElementType::fp32 ? 4 : 2; }

/// Figures by traffic class are in arrays of this length: kernels bring classes of their own (traffic_classes.h).
inline constexpr std::size_t traffic_classes_most = 48;

constexpr std::size_t index_of(TrafficClass traffic) { return static_cast<std::size_t>(traffic); }

/// Whether somebody has asked for it, or the enumeration has it.
bool is_traffic_class(TrafficClass traffic);

static_assert(
    [] {
      for (const TrafficClass traffic : traffic_class_values)
        if (index_of(traffic) >= std::size(traffic_class_values)) return false;
      return true;
    }(),
    "traffic_class.enumeration.json must number its values from 0 on without a gap");

inline constexpr std::uint8_t no_wavefront = 0xFF;
inline constexpr std::uint32_t no_workgroup = 0xFFFFFFFF;

/// The wavefront tile that an access belongs to. wg_id is the tile's position in the output and the same on all GPUs;
/// it travels with remote and DMA accesses (T3 4.2).
struct Producer {
  std::uint32_t wg_id = no_workgroup;
  std::uint8_t wf_id = no_wavefront;
  std::uint16_t gpu = 0;
};

/// A 2-D access: `rows` rows of `row_bytes` bytes, the starts `stride` bytes apart. The payload's address is the first
/// byte's, its data length rows * row_bytes, its data packed without gaps; a null data pointer means timing only.
struct Shape {
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 0;
  std::uint64_t stride = 0;

  std::uint64_t bytes() const { return std::uint64_t{rows} * row_bytes; }
};

}  // namespace t3vp
