# t3vp_add_kernel_arguments(<target> <name>.arguments.json...): generates at build time a C header for the arguments of each
# kernel and makes it visible to the target, and to whoever links it, as "t3/arguments/<name>.h".
function(t3vp_add_kernel_arguments target)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}_arguments)
  set(headers)
  set(descriptions)
  foreach(file ${ARGN})
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    string(REPLACE ".arguments.json" ".h" header ${name})
    list(APPEND headers ${directory}/t3/arguments/${header})
    list(APPEND descriptions ${file})
  endforeach()
  file(GLOB scripts ${T3VP_GENERATOR}/*.py ${T3VP_GENERATOR}/generator/*.py)
  add_custom_command(OUTPUT ${headers}
                     COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE}
                             ${T3VP_GENERATOR}/generate_structures.py ${descriptions} --c ${directory}
                     DEPENDS ${descriptions} ${scripts} COMMENT "Arguments of the kernels of ${target}" VERBATIM)
  add_custom_target(${target}_arguments DEPENDS ${headers})
  add_dependencies(${target} ${target}_arguments)
  get_target_property(type ${target} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL INTERFACE_LIBRARY)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${directory}>)
endfunction()
