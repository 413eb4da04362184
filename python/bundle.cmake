# Copies the shared libraries of `extension` that not every Linux has to copse/lib, each under its own soname.
file(GET_RUNTIME_DEPENDENCIES LIBRARIES "${extension}"
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\.so" "^libm\\.so" "^libpthread" "^libdl" "^librt" "^libgcc_s" "^libstdc\\+\\+")
if(missing)
  message(FATAL_ERROR "libraries that are not installed: ${missing}")
endif()
file(MAKE_DIRECTORY "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/copse/lib")
foreach(library ${found})
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" file)
  message(STATUS "bundled: ${name}")
  file(COPY_FILE "${file}" "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/copse/lib/${name}")
endforeach()
