# t3vp itself, and two packages for other people, find_package(t3vp COMPONENTS firmware hardware): what libraries of programs
# and kernels are built with (t3vp_add_firmware), and models, GPU and node for other platforms and benches (t3vp::memory,
# t3vp::node).
include(CMakePackageConfigHelpers)

set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/t3vp)
set(firmware_libraries t3vp_warnings t3vp_abi t3vp_device_api t3vp_kernel_arguments t3vp_workload_headers t3vp_firmware t3vp_programs)
set(hardware_libraries t3vp_protocol t3vp_registers ${block_libraries} t3vp_io t3vp_system t3vp_node)
list(TRANSFORM hardware_libraries APPEND _headers OUTPUT_VARIABLE header_libraries)
list(APPEND hardware_libraries ${header_libraries} t3vp_protocol_types t3vp_matrix_unit t3vp_arbitration t3vp_kernels)
foreach(library ${firmware_libraries} ${hardware_libraries})
  string(REPLACE t3vp_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS t3vp ${firmware_libraries} EXPORT t3vp_firmware RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${hardware_libraries} EXPORT t3vp_hardware ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT t3vp_firmware NAMESPACE t3vp:: FILE t3vpFirmwareTargets.cmake DESTINATION ${packages})
install(EXPORT t3vp_hardware NAMESPACE t3vp:: FILE t3vpHardwareTargets.cmake DESTINATION ${packages})
install(FILES cmake/Firmware.cmake DESTINATION ${packages})
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp FILES_MATCHING PATTERN "*.h")
install(DIRECTORY platform/io platform/system platform/node DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp FILES_MATCHING PATTERN "*.h")
install(DIRECTORY abi/include/ firmware/include/ firmware/hal/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} PATTERN riscv EXCLUDE)
# Of cores, where it has been built.
install(FILES ${PROJECT_BINARY_DIR}/t3vp-firmware.elf DESTINATION ${CMAKE_INSTALL_DATADIR}/t3vp OPTIONAL)
install(FILES firmware/kernels/kernels.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kernels)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/cpp/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/c/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
get_property(parameter_roots GLOBAL PROPERTY t3vp_parameter_roots)
foreach(root ${parameter_roots})
  install(DIRECTORY ${root}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/firmware/t3vp_kernel_arguments_arguments/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES cmake/KernelArguments.cmake DESTINATION ${packages})
install(FILES models/registers/generate_structures.py DESTINATION ${packages}/generator)
install(DIRECTORY models/registers/generator DESTINATION ${packages}/generator FILES_MATCHING PATTERN "*.py")
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/t3vp)

configure_package_config_file(cmake/t3vpConfig.cmake.in ${PROJECT_BINARY_DIR}/t3vpConfig.cmake
                              INSTALL_DESTINATION ${packages})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/t3vpConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/t3vpConfig.cmake ${PROJECT_BINARY_DIR}/t3vpConfigVersion.cmake
        DESTINATION ${packages})
