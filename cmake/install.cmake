# Three packages: the program, one shared library of all rooms, and its headers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What the library itself needs (oneTBB, libarchive, zlib) concerns nobody who links it: find_package(copse) looks for nothing else.
# Before 1.0 any minor version may change the interface: it is part of the soname.
list(TRANSFORM COPSE_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(copse_shared SHARED ${objects})
set_target_properties(copse_shared PROPERTIES OUTPUT_NAME copse EXPORT_NAME copse LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(copse_shared PRIVATE $<BUILD_INTERFACE:copse_evaluation>)
target_link_options(copse_shared PRIVATE -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack)
target_include_directories(copse_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(copse_shared INTERFACE cxx_std_20)

install(TARGETS copse_shared EXPORT copse-targets LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/copse DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/copse)
install(EXPORT copse-targets NAMESPACE copse:: DESTINATION ${package_directory} FILE copse-config.cmake COMPONENT development)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/copse-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/copse-config-version.cmake DESTINATION ${package_directory} COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "the copse maintainers <copse@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME copse)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcopse${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcopse-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program library development)
include(CPack)
