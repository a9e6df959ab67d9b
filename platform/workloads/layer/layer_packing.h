// A layer's tensors and operations in the bytes that its program reads (layer_layout.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workloads/layer/layer_layout.h"
#include "workloads/layer_arguments.h"

namespace t3vp {

struct NamedTensor {
  std::string name;
  std::uint64_t bytes;
  t3_element element;
};

template <typename Structure>
void append_bytes(std::vector<unsigned char>& bytes, const Structure& structure) {
  const std::size_t before = bytes.size();
  bytes.resize(before + sizeof structure);
  std::memcpy(bytes.data() + before, &structure, sizeof structure);
}

inline PackedWorkload packed_layer(const std::vector<NamedTensor>& tensors,
                                   const std::vector<t3_layer_operation>& operations) {
  std::vector<unsigned char> bytes;
  std::string names;
  for (const NamedTensor& tensor : tensors) {
    append_bytes(bytes, t3_layer_tensor{tensor.bytes, static_cast<std::uint32_t>(names.size()), tensor.element});
    names += tensor.name + '\0';
  }
  for (const t3_layer_operation& operation : operations) append_bytes(bytes, operation);
  bytes.insert(bytes.end(), names.begin(), names.end());
  return packed(
      t3_layer_workload{static_cast<std::uint32_t>(tensors.size()), static_cast<std::uint32_t>(operations.size()),
                        static_cast<std::uint32_t>(names.size()), 0},
      bytes);
}

}  // namespace t3vp
