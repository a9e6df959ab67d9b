# t3vp_add_firmware(<name> <source>...): a native library of programs and kernels, <name>.so, for `program` and `kernels` of
# a run file. Its sources define the table t3_exports (t3/exports.h), which is all that the library shows; the driver and
# the programs of all workloads (t3/programs.h) are linked into it. What needs more than a kernel's stack in one function is a compiler's warning; a source of programs alone,
# which have more, may take it away: set_source_files_properties(... COMPILE_OPTIONS -Wno-frame-larger-than).
function(t3vp_add_firmware name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" C_STANDARD 11 C_STANDARD_REQUIRED ON C_VISIBILITY_PRESET hidden
                                           CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE t3vp::programs t3vp::firmware)
  target_compile_options(${name} PRIVATE -Wframe-larger-than=16384)  # T3_WAVE_STACK_BYTES
  # Sums are the same on every host: no product and sum in one rounding.
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_link_options(${name} PRIVATE LINKER:-z,defs LINKER:--exclude-libs,ALL LINKER:--require-defined=t3_exports)
endfunction()
