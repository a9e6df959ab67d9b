# Firmware for RISC-V cores, by a cross compiler that is not this build's own: libt3_riscv.a, which firmware is linked with,
# t3vp-firmware.elf, the image of all programs that the platform comes with, and t3-riscv.options, the compiler's options for
# firmware of one's own (docs/guides/riscv.md).
set(T3VP_RISCV_FIRMWARE AUTO CACHE STRING "Build firmware for RISC-V cores: ON, OFF, or AUTO, where the compiler is found")
find_program(T3VP_RISCV_GCC riscv64-unknown-elf-gcc)
find_program(T3VP_RISCV_AR riscv64-unknown-elf-ar)
set(T3VP_RISCV_FIRMWARE_BUILT OFF)
if(T3VP_RISCV_FIRMWARE AND T3VP_RISCV_GCC AND T3VP_RISCV_AR)
  execute_process(COMMAND ${T3VP_RISCV_GCC} -print-file-name=picolibc.specs OUTPUT_VARIABLE specs OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${specs}")
    set(T3VP_RISCV_FIRMWARE_BUILT ON)
  endif()
endif()
if(T3VP_RISCV_FIRMWARE STREQUAL "ON" AND NOT T3VP_RISCV_FIRMWARE_BUILT)
  message(FATAL_ERROR "T3VP_RISCV_FIRMWARE: neither riscv64-unknown-elf-gcc nor its picolibc.specs may be missing; they are in "
                      "Debian's gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf")
endif()

# Objects name their sources from the project's root.
# -misa-spec=2.2: control registers and fence.i belong to I, as they do to the compiler's libraries.
set(T3VP_RISCV_MACHINE -march=rv64imac -misa-spec=2.2 -mabi=lp64 -mcmodel=medany)

# t3vp_riscv_objects(<variable> [DEFINITIONS ...] [INCLUDES ...] SOURCES ...): compiles each source, the list of objects.
function(t3vp_riscv_objects variable)
  cmake_parse_arguments(ARG "" "" "DEFINITIONS;INCLUDES;SOURCES" ${ARGN})
  list(TRANSFORM ARG_INCLUDES PREPEND -I)
  list(TRANSFORM ARG_DEFINITIONS PREPEND -D)
  set(objects)
  foreach(source ${ARG_SOURCES})
    get_filename_component(source ${source} ABSOLUTE)
    string(REPLACE ${PROJECT_BINARY_DIR}/ "" name ${source})
    string(REPLACE ${PROJECT_SOURCE_DIR}/ "" name ${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/riscv/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${T3VP_RISCV_GCC} --specs=picolibc.specs ${T3VP_RISCV_MACHINE} -std=c11 -O2 -g -ffunction-sections -fdata-sections
              -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -Wa,--debug-prefix-map=${PROJECT_SOURCE_DIR}=. -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror ${ARG_DEFINITIONS} ${ARG_INCLUDES}
              -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
      DEPENDS ${source} t3vp_generated_registers t3vp_generated_workloads t3vp_kernel_arguments_arguments
      DEPFILE ${object}.d COMMENT "RISC-V: ${name}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# For t3vp_add_riscv_firmware().
set(T3VP_RISCV_OPTIONS @${PROJECT_BINARY_DIR}/t3-riscv.options -Wall -Wextra -Werror)
set(T3VP_RISCV_DEPENDS t3vp_riscv_firmware ${PROJECT_BINARY_DIR}/t3vp-firmware.elf)  # which is new when a header is
include(cmake/RiscvProgram.cmake)
