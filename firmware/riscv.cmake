# The same driver and programs for a RISC-V core, on its own HAL.
if(NOT T3VP_RISCV_FIRMWARE_BUILT)
  return()
endif()

set(riscv_includes ${PROJECT_SOURCE_DIR}/abi/include ${CMAKE_CURRENT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR}/hal ${CMAKE_CURRENT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/generated/c ${CMAKE_CURRENT_BINARY_DIR}/t3vp_kernel_arguments_arguments)
file(GLOB riscv_hal CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/hal/riscv/*.c ${CMAKE_CURRENT_SOURCE_DIR}/hal/riscv/*.S)
t3vp_riscv_objects(library_objects INCLUDES ${riscv_includes} ${T3VP_ROOMS} ${CMAKE_CURRENT_SOURCE_DIR}/driver SOURCES ${riscv_hal} ${driver} ${programs})
set(riscv_library ${CMAKE_CURRENT_BINARY_DIR}/libt3_riscv.a)
add_custom_command(OUTPUT ${riscv_library} COMMAND ${CMAKE_COMMAND} -E rm -f ${riscv_library}
                   COMMAND ${T3VP_RISCV_AR} rcs ${riscv_library} ${library_objects}
                   DEPENDS ${library_objects} COMMENT "RISC-V: libt3_riscv.a" VERBATIM)

# Includes and libraries of firmware of one's own, too: gcc @t3-riscv.options my.c -lt3_riscv -o my.elf
set(riscv_machine_options --specs=picolibc.specs --picolibc-buildtype=release ${T3VP_RISCV_MACHINE} -std=c11 -O2 -g -ffunction-sections -fdata-sections)
set(riscv_link_options -nostartfiles -Wl,--gc-sections)
set(riscv_options ${riscv_machine_options} ${riscv_link_options} -L${CMAKE_CURRENT_BINARY_DIR} -T${CMAKE_CURRENT_SOURCE_DIR}/hal/riscv/t3.ld)
foreach(folder ${riscv_includes})
  list(APPEND riscv_options -I${folder})
endforeach()
list(JOIN riscv_options "\n" riscv_options_text)
set(riscv_options_file ${PROJECT_BINARY_DIR}/t3-riscv.options)
file(WRITE ${riscv_options_file} "${riscv_options_text}\n")

# What the platform comes with, without its kernels, which are native.
set(riscv_image ${PROJECT_BINARY_DIR}/t3vp-firmware.elf)
t3vp_riscv_objects(image_objects INCLUDES ${riscv_includes} ${CMAKE_CURRENT_SOURCE_DIR}/built_in DEFINITIONS t3_built_in=t3_exports
                   SOURCES ${T3VP_BUILT_IN} hal/riscv/image/no_kernels.c)
add_custom_command(OUTPUT ${riscv_image}
                   COMMAND ${T3VP_RISCV_GCC} @${riscv_options_file} ${image_objects} -lt3_riscv -o ${riscv_image}
                   DEPENDS ${image_objects} ${riscv_library} ${CMAKE_CURRENT_SOURCE_DIR}/hal/riscv/t3.ld ${riscv_options_file}
                   COMMENT "RISC-V: t3vp-firmware.elf" VERBATIM)
add_custom_target(t3vp_riscv_firmware ALL DEPENDS ${riscv_image})

# The package has the same apart from paths (t3vpRiscv.cmake.in).
set(T3VP_RISCV_COMPILE_OPTIONS ${riscv_machine_options})
set(T3VP_RISCV_LINK_OPTIONS ${riscv_machine_options} ${riscv_link_options})
list(JOIN T3VP_RISCV_LINK_OPTIONS "\n" packaged_options)
file(WRITE ${PROJECT_BINARY_DIR}/package/t3-riscv.options "${packaged_options}\n")
configure_file(${PROJECT_SOURCE_DIR}/cmake/t3vpRiscv.cmake.in ${PROJECT_BINARY_DIR}/t3vpRiscv.cmake @ONLY)
set(packaged ${CMAKE_INSTALL_LIBDIR}/t3vp/riscv)
install(FILES ${riscv_library} hal/riscv/t3.ld ${PROJECT_BINARY_DIR}/package/t3-riscv.options DESTINATION ${packaged})
install(FILES ${riscv_image} DESTINATION ${CMAKE_INSTALL_DATADIR}/t3vp)
install(FILES ${PROJECT_BINARY_DIR}/t3vpRiscv.cmake ${PROJECT_SOURCE_DIR}/cmake/RiscvProgram.cmake
              ${PROJECT_SOURCE_DIR}/cmake/t3vp-riscv-toolchain.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/t3vp)
