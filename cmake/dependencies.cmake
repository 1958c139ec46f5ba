# Finds what fsmc is built with; docs/dependencies.md says why each of them is used.

find_package(BISON 3.8 REQUIRED)
find_package(FLEX 2.6 REQUIRED)
find_package(Threads REQUIRED)

# Only LLVM's C headers and its shared library are used.
find_package(LLVM 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19 /usr/local/llvm-19)
if(LLVM_FOUND)
    find_library(FSMC_LLVM_LIBRARY NAMES LLVM-19 HINTS ${LLVM_LIBRARY_DIRS} ${LLVM_LIBRARY_DIR})
endif()
if(NOT LLVM_FOUND OR NOT FSMC_LLVM_LIBRARY)
    message(FATAL_ERROR "LLVM 19 with its shared library was not found (Debian: llvm-19-dev); set LLVM_DIR")
endif()
add_library(fsmc_llvm INTERFACE)
target_link_libraries(fsmc_llvm INTERFACE ${FSMC_LLVM_LIBRARY})

find_path(JANSSON_INCLUDE_DIR jansson.h)
find_library(JANSSON_LIBRARY jansson)
if(NOT JANSSON_INCLUDE_DIR OR NOT JANSSON_LIBRARY)
    message(FATAL_ERROR "Jansson was not found (Debian: libjansson-dev)")
endif()

find_path(FFI_INCLUDE_DIR ffi.h)
find_library(FFI_LIBRARY ffi)
if(NOT FFI_INCLUDE_DIR OR NOT FFI_LIBRARY)
    message(FATAL_ERROR "libffi was not found (Debian: libffi-dev)")
endif()
mark_as_advanced(FFI_INCLUDE_DIR FFI_LIBRARY FSMC_LLVM_LIBRARY JANSSON_INCLUDE_DIR JANSSON_LIBRARY)
