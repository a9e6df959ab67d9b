// Sub-layers of Transformers as GEMM shapes, and whole layers (T3 Table 2, Figure 15).
#pragma once

#include "config/configuration.h"
#include "config/json_document.h"

namespace t3vp {

/// The models file that a run file names, or the one that is built in; schema checked.
Document models_of(const Document& run);

/// Rejects keys that cannot stand beside those that say which kind of workload it is, before anything is missed.
void check_kind_of_workload(const Document& run);

/// The workload of a run file whose schema has been checked: an explicit GEMM, a model's sub-layer, or a
/// layer.
Workload read_workload(const Document& run);

}  // namespace t3vp
