// Transformer layers by their shapes.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/access.h"

namespace t3vp {

/// A Transformer as its layers see it.
struct TransformerShape {
  std::uint32_t hidden = 0, heads = 0;
  std::uint32_t sequence = 0, batch = 0;  ///< tokens of an input, inputs
  ElementType element = ElementType::fp16;
};

enum class LayerPart : std::uint8_t { gemm, attention, element_wise, optimizer };
inline constexpr LayerPart all_layer_parts[] = {LayerPart::gemm, LayerPart::attention, LayerPart::element_wise,
                                                LayerPart::optimizer};
const char* name_of(LayerPart part);

/// A layer without its sub-layers that need an all-reduce, on one of tp GPUs.
struct LayerShape {
  bool training = false;         ///< forward, backward and optimizer; else forward without dropout (prompt)
  bool fused_attention = false;  ///< scores stay on the compute units
  std::uint32_t tp = 1;
  TransformerShape shape;
  std::vector<LayerPart> parts;  ///< whose operations are simulated; empty: all
};

}  // namespace t3vp
