// What can be told of a library's table (t3/exports.h) before anything is called.
#pragma once

#include "config/input_error.h"
#include "t3/exports.h"

namespace t3vp {

/// Throws InputError about a table of another version, one that points where nothing can be read or called, lists
/// without an end, and names that are none or are there twice. What kernels are beyond that, KernelRegistry says.
void require_right(const t3_export_table& table, const InputPlace& place);

}  // namespace t3vp
