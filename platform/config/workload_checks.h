// What no JSON Schema can say about workloads of kernels that exchange or sum up what they compute.
#pragma once

#include "config/configuration.h"
#include "config/json_document.h"

namespace t3vp {

/// Each throws InputError about the first setting that another one excludes.
void check_mirrored_data(const Document& run, const RunConfiguration& configuration);
void check_collective(const Document& run, const Document& system, const RunConfiguration& configuration);
/// With the perceptrons of a training pass beside them as well.
void check_embedding(const Document& run, const Document& system, const RunConfiguration& configuration);
void check_gemv(const Document& run, const Document& system, const RunConfiguration& configuration);
void check_experts(const Document& run, const RunConfiguration& configuration);

}  // namespace t3vp
