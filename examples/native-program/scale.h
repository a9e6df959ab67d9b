#include <stddef.h>

#include "t3/arguments/scale.h"
#include "t3/exports.h"

extern const struct t3_kernel scale_kernel;
