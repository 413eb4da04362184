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

# For builds without CMake. It finds its prefix by itself: a package is installed elsewhere than this build would be.
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})
configure_file(cmake/copse.pc.in copse.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/copse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(library_package libcopse${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
# Who builds a package is its maintainer, named as Debian's own tools have it.
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(CPACK_PACKAGE_CONTACT "built from source, set DEBFULLNAME and DEBEMAIL <root@localhost>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library_package} (= ${PROJECT_VERSION})")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program library development)
set(packages copse ${library_package} libcopse-dev)
set(sections science libs libdevel)
foreach(part IN ZIP_LISTS CPACK_COMPONENTS_ALL packages sections)
  string(TOUPPER ${part_0} component)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${part_1})
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${part_2})
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${part_1} RENAME copyright COMPONENT ${part_0})
endforeach()
include(CPack)
