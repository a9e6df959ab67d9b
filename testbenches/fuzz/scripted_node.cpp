#include "fuzz/scripted_node.h"

/// The address sanitizer looks for leaks from the stack that it takes for the current one, which SystemC has left: it
/// would find what sc_main's callers hold. What has been freed is kept for a while, less of it than usual, since pages
/// that are new for each input take most of the time.
extern "C" const char* __asan_default_options() { return "detect_leaks=0:quarantine_size_mb=8"; }
