#include <systemc>

#include "cli/command_line.h"

int main(int argc, char** argv) { return t3vp::run_command_line(argc, argv); }

// libsystemc brings a main() of its own, which wants this; ours takes precedence.
int sc_main(int, char**) { return 0; }
