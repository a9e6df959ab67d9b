# Workloads have a room each, platform/workloads/<name>, with a description of their arguments. At build time it becomes
# t3/workloads/<name>.h and t3/programs.h for programs, and workloads/<name>_arguments.h and workloads/descriptions.h for
# the platform. Headers in the rooms are "workloads/<name>/<header>.h" to who links t3vp::workload_rooms.
# An operation of the collective workload is a folder too, platform/workloads/collective/operations/<name>. Its description
# adds t3/collective_op.h, t3/collective_staging.h, workloads/collective_operations.h and the kernel's table of steps.
block(PROPAGATE T3VP_BUILT_IN T3VP_OPERATION_TABLE T3VP_ROOMS)
file(GLOB workload_descriptions CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/platform/workloads/*/*.arguments.json)
file(GLOB operation_descriptions CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/platform/workloads/collective/operations/*/*.operation.json)
file(GLOB operation_layouts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/platform/workloads/collective/operations/*/*_layout.h)
set(generated ${PROJECT_BINARY_DIR}/generated)
set(T3VP_BUILT_IN ${generated}/built_in.c)
set(T3VP_OPERATION_TABLE ${generated}/collective_operation_table.c)
set(workload_headers ${generated}/c/t3/programs.h ${generated}/workloads/workloads/descriptions.h ${generated}/c/t3/collective_op.h
                     ${generated}/c/t3/collective_staging.h ${generated}/workloads/workloads/collective_operations.h)
foreach(layout ${operation_layouts})
  get_filename_component(name ${layout} NAME)
  string(REPLACE "_layout.h" ".h" name ${name})
  list(APPEND workload_headers ${generated}/c/t3/operations/${name})
endforeach()
foreach(description ${workload_descriptions})
  get_filename_component(name ${description} NAME)
  string(REPLACE ".arguments.json" "" name ${name})
  list(APPEND workload_headers ${generated}/c/t3/workloads/${name}.h ${generated}/workloads/workloads/${name}_arguments.h)
endforeach()
file(GLOB scripts ${T3VP_GENERATOR}/*.py ${T3VP_GENERATOR}/generator/*.py)
set(generate ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${T3VP_GENERATOR}/generate_workloads.py
             ${workload_descriptions} --operations ${operation_descriptions})
add_custom_command(OUTPUT ${workload_headers} ${T3VP_BUILT_IN} ${T3VP_OPERATION_TABLE}
                   COMMAND ${generate} --c ${generated}/c --cpp ${generated}/workloads --built-in ${T3VP_BUILT_IN}
                           --operation-table ${T3VP_OPERATION_TABLE}
                   DEPENDS ${workload_descriptions} ${operation_descriptions} ${operation_layouts} ${scripts} COMMENT "Arguments of workloads" VERBATIM)
add_custom_target(t3vp_generated_workloads DEPENDS ${workload_headers} ${T3VP_BUILT_IN} ${T3VP_OPERATION_TABLE})

# What is checked in: the run file's schema, in part, and the reference page.
set(workload_schema ${PROJECT_SOURCE_DIR}/configs/schema/run.schema.json)
set(workload_page ${PROJECT_SOURCE_DIR}/docs/reference/workloads.md)
add_custom_target(workload_reference COMMAND ${generate} --schema ${workload_schema} --docs ${workload_page} VERBATIM)
set_property(TARGET workload_reference PROPERTY T3VP_CHECK_COMMAND
             ${generate} --check-schema ${workload_schema} --check-docs ${workload_page})

# What programs include, wherever they are built.
add_library(t3vp_workload_headers INTERFACE)
add_library(t3vp::workload_headers ALIAS t3vp_workload_headers)
target_include_directories(t3vp_workload_headers INTERFACE $<BUILD_INTERFACE:${generated}/c> $<INSTALL_INTERFACE:include>)
add_dependencies(t3vp_workload_headers t3vp_generated_workloads)

# What this project's kernels, programs and platform include of the rooms. The directory holds a link to them alone.
set(T3VP_ROOMS ${PROJECT_BINARY_DIR}/include/workloads)
file(MAKE_DIRECTORY ${T3VP_ROOMS})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/platform/workloads ${T3VP_ROOMS}/workloads SYMBOLIC)
add_library(t3vp_workload_rooms INTERFACE)
add_library(t3vp::workload_rooms ALIAS t3vp_workload_rooms)
target_include_directories(t3vp_workload_rooms INTERFACE $<BUILD_INTERFACE:${T3VP_ROOMS}> $<BUILD_INTERFACE:${generated}/workloads>)
target_link_libraries(t3vp_workload_rooms INTERFACE t3vp::workload_headers)
endblock()
