#include "fuzz/scripted_node.h"

/// The address sanitizer looks for leaks from the stack that it takes for the current one, which SystemC has left: it
/// would find what sc_main's callers hold.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
