# t3vp_add_riscv_firmware(<name> [DEPENDS ...] [INCLUDES ...] [OPTIONS ...] SOURCES ...): an executable <name>.elf for cores, of
# sources that define t3_exports or main(), built in one go; the target is <name>. In the package it needs
# find_package(t3vp COMPONENTS riscv).
function(t3vp_add_riscv_firmware name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;INCLUDES;OPTIONS;SOURCES" ${ARGN})
  if(NOT T3VP_RISCV_GCC)
    message(FATAL_ERROR "t3vp_add_riscv_firmware(${name}): riscv64-unknown-elf-gcc expected (Debian: gcc-riscv64-unknown-elf)")
  endif()
  list(TRANSFORM ARG_INCLUDES PREPEND -I)
  set(sources)
  foreach(source ${ARG_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.elf)
  add_custom_command(
    OUTPUT ${image}
    COMMAND ${T3VP_RISCV_GCC} ${T3VP_RISCV_OPTIONS} ${ARG_INCLUDES} ${ARG_OPTIONS} ${sources} -lt3_riscv -o ${image}
    DEPENDS ${sources} ${ARG_DEPENDS} ${T3VP_RISCV_DEPENDS} COMMENT "RISC-V: ${name}.elf" VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${image})
endfunction()
