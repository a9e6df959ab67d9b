# t3vp_add_policies(<name> <source>...): a library of arbitration policies, <name>.so, for `policies` of a run file. One of its
# sources has T3VP_POLICIES (memory/policy_plugin.h). It uses headers of the package alone.
function(t3vp_add_policies name)
  t3vp_add_plugin(${name} t3vp_policies ${ARGN})
  target_link_libraries(${name} PRIVATE t3vp::arbitration)
endfunction()

# t3vp_add_blocks(<name> <source>...): a library of blocks, <name>.so, for `blocks` of a system file. One of its sources has
# T3VP_BLOCKS (node/plugin_block.h). t3vp_registers(<name> ...) adds the classes of their registers.
function(t3vp_add_blocks name)
  t3vp_add_plugin(${name} t3vp_blocks ${ARGN})
  target_link_libraries(${name} PRIVATE t3vp::node_headers t3vp::registers)
endfunction()

# t3vp_add_plugin(<name> <table> <source>...): the library shows its table and nothing else.
function(t3vp_add_plugin name table)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
                                           CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_link_options(${name} PRIVATE LINKER:-z,defs LINKER:--exclude-libs,ALL LINKER:--require-defined=${table})
endfunction()
