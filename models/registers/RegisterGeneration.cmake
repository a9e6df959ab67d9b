# t3vp_registers(<target> <block>.registers.json...): generates at build time a class t3vp::registers::<Block> per file
# and makes it visible to the target as "registers/<block>.h". The platform's own blocks come with t3vp::registers; this
# is for blocks of other platforms and of tests.
set(T3VP_REGISTER_GENERATOR ${CMAKE_CURRENT_LIST_DIR}/generate.py)
set(T3VP_REGISTER_ENUMERATION ${CMAKE_CURRENT_LIST_DIR}/status.json)
file(GLOB T3VP_REGISTER_GENERATOR_FILES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/generator/*.py)
list(APPEND T3VP_REGISTER_GENERATOR_FILES ${T3VP_REGISTER_GENERATOR} ${T3VP_REGISTER_ENUMERATION})

function(t3vp_registers target)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}_registers)
  set(headers)
  set(descriptions)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(REPLACE ".registers.json" ".h" header ${name})
    list(APPEND headers ${directory}/registers/${header})
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND descriptions ${file})
  endforeach()
  add_custom_command(
    OUTPUT ${headers}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${T3VP_REGISTER_GENERATOR}
            ${descriptions} --enumeration ${T3VP_REGISTER_ENUMERATION} --cpp ${directory}
    DEPENDS ${descriptions} ${T3VP_REGISTER_GENERATOR_FILES}
    COMMENT "Registers of ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${headers})
  target_include_directories(${target} PRIVATE ${directory})
  target_link_libraries(${target} PRIVATE t3vp::registers)
endfunction()
