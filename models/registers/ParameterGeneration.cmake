# t3vp_parameter_command(<result> <dependencies> <name>.parameters.json...): the command that reads these descriptions, to
# which the caller adds what to write, and the files that what it writes depends on.
function(t3vp_parameter_command result dependencies)
  set(folder ${PROJECT_SOURCE_DIR}/models/registers)
  file(GLOB scripts CONFIGURE_DEPENDS ${folder}/*.py ${folder}/generator/*.py)
  set(${result} ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${folder}/generate_parameters.py ${ARGN}
                PARENT_SCOPE)
  set(${dependencies} ${ARGN} ${scripts} PARENT_SCOPE)
endfunction()

# t3vp_parameters(<target>): generates at build time a structure for each <name>.parameters.json of this folder. To whoever
# links the target, an interface library, it is in "<folder>/<name>_parameters.h", and its check in "<folder>/<name>_ranges.h".
# t3vp_layer() calls it.
function(t3vp_parameters target)
  file(GLOB descriptions CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.parameters.json)
  if(NOT descriptions)
    return()
  endif()
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(root ${PROJECT_BINARY_DIR}/generated/parameters/${folder})
  set(headers)
  foreach(description ${descriptions})
    get_filename_component(file ${description} NAME)
    string(REPLACE ".parameters.json" "_parameters.h" header ${file})
    string(REPLACE ".parameters.json" "_ranges.h" ranges ${file})
    list(APPEND headers ${root}/${folder}/${header} ${root}/${folder}/${ranges})
  endforeach()
  t3vp_parameter_command(generate dependencies ${descriptions})
  add_custom_command(OUTPUT ${headers} COMMAND ${generate} --cpp ${root} DEPENDS ${dependencies}
                     COMMENT "Parameters of ${folder}" VERBATIM)
  add_custom_target(${target}_parameters DEPENDS ${headers})
  add_dependencies(${target} ${target}_parameters)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${root}>)
  set_property(GLOBAL APPEND PROPERTY t3vp_parameter_roots ${root})
endfunction()
