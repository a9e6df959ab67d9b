# One place for the compiler's strictness: every target of the project links t3vp_warnings privately.
add_library(t3vp_warnings INTERFACE)
target_compile_options(t3vp_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                       $<$<NOT:$<BOOL:${T3VP_FUZZING}>>:-Werror>  # clang has warnings of its own
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>)
