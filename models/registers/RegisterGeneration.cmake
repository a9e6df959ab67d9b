# t3vp_register_command(<result> <dependencies> <block>.registers.json...): the command that reads these descriptions and
# all enumerations, to which the caller adds what to write, and the files that what it writes depends on.
function(t3vp_register_command result dependencies)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  file(GLOB scripts CONFIGURE_DEPENDS ${folder}/*.py ${folder}/generator/*.py)
  file(GLOB enumerations CONFIGURE_DEPENDS ${folder}/../*/*.enumeration.json)
  set(${result} ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${folder}/generate.py ${ARGN}
                --enumerations ${enumerations} PARENT_SCOPE)
  set(${dependencies} ${ARGN} ${scripts} ${enumerations} PARENT_SCOPE)
endfunction()

# t3vp_registers(<target> <block>.registers.json...): generates at build time a class t3vp::registers::<Block> per file
# and makes it visible to the target as "registers/<block>.h". Offsets, masks and values in C are "t3/registers/<block>.h".
# The platform's own blocks come with t3vp::registers; this is for blocks of other platforms and of tests.
function(t3vp_registers target)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}_registers)
  set(headers)
  set(c_headers)
  set(descriptions)
  foreach(file ${ARGN})
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    string(REPLACE ".registers.json" ".h" header ${name})
    list(APPEND headers ${directory}/registers/${header})
    list(APPEND c_headers ${directory}/t3/registers/${header})
    list(APPEND descriptions ${file})
  endforeach()
  t3vp_register_command(generate dependencies ${descriptions})
  add_custom_command(OUTPUT ${headers} ${c_headers} COMMAND ${generate} --cpp ${directory} --c ${directory} DEPENDS ${dependencies}
                     COMMENT "Registers of ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${headers})
  target_include_directories(${target} PRIVATE ${directory})
  target_link_libraries(${target} PRIVATE t3vp::registers)
endfunction()
