// The pictures of an experiment file.
#pragma once

#include "experiment/experiment.h"

namespace t3vp {

/// Adds the plots of the document to the experiment, whose other parts have been read. Throws InputError.
void read_plots(const Document& document, Experiment& experiment);

}  // namespace t3vp
