# Copies the shared libraries of `extension` that not every Linux has to copse/lib, each under its own soname, and the
# licences of all that the wheel carries to copse/licenses; `built_in` lists what is inside the extension, as name|file.
include("${CMAKE_CURRENT_LIST_DIR}/licenses.cmake")
set(package "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/copse")
file(GET_RUNTIME_DEPENDENCIES LIBRARIES "${extension}"
  RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\.so" "^libm\\.so" "^libpthread" "^libdl" "^librt" "^libgcc_s" "^libstdc\\+\\+")
if(missing)
  message(FATAL_ERROR "libraries that are not installed: ${missing}")
endif()
file(MAKE_DIRECTORY "${package}/lib")
foreach(library ${found})
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" file)
  message(STATUS "bundled: ${name}")
  file(COPY_FILE "${file}" "${package}/lib/${name}")
  carry_licence("${name}" "${file}" "${package}/licenses")
endforeach()
foreach(part ${built_in})
  string(REPLACE "|" ";" part "${part}")
  list(GET part 0 name)
  list(GET part 1 file)
  carry_licence("${name}" "${file}" "${package}/licenses")
endforeach()
