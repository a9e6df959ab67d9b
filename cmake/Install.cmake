# Models, GPU and node as a package for other people's platforms: find_package(t3vp), then t3vp::memory, t3vp::hardware.
include(CMakePackageConfigHelpers)

set(packages ${CMAKE_INSTALL_LIBDIR}/cmake/t3vp)
set(libraries t3vp_protocol t3vp_registers ${block_libraries} t3vp_hardware)
foreach(library ${libraries} t3vp_device_api t3vp_kernel_arguments t3vp_register_headers)
  string(REPLACE t3vp_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${libraries} t3vp_warnings t3vp_device_api t3vp_kernel_arguments t3vp_register_headers EXPORT t3vp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT t3vp NAMESPACE t3vp:: FILE t3vpTargets.cmake DESTINATION ${packages})
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp FILES_MATCHING PATTERN "*.h")
install(DIRECTORY platform/hardware DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp FILES_MATCHING PATTERN "*.h")
install(FILES firmware/include/t3/check.h firmware/include/t3/device.h firmware/include/t3/element_bytes.h
              firmware/include/t3/kernel_handle.h firmware/include/t3/little_endian.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/cpp/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/t3vp)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/c/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
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
