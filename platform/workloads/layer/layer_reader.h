// A layer as a run file has it.
#pragma once

#include "io/json_document.h"
#include "workloads/layer/layer_shape.h"

namespace t3vp {

/// Throws InputError about a shape that tp GPUs cannot share, or that packets cannot describe.
LayerShape read_layer(const Document& run);

}  // namespace t3vp
