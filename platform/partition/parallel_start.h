// How a process learns that it is one of several of a run.
#pragma once

#include <memory>
#include <string>

#include "partition/transport.h"

namespace t3vp {

/// Whether mpirun has started this process.
bool is_started_by_mpirun();

/// Throws InputError when mpirun has started several processes of a command that one process does. The only one stays,
/// but what it starts is no process of mpirun.
void require_one_process(const std::string& command);

/// Whether this is the process that prints, as far as its environment says.
bool is_first_process();

/// Opens the library of the transport beside this executable. To be called before any thread or file exists. Throws
/// InputError when this build has no such library, or it cannot be opened.
std::unique_ptr<Transport> open_transport();

}  // namespace t3vp
