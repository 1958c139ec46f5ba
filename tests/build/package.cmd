# The installed package: moved elsewhere, versions that it is compatible with, and wrong uses of fsmc_add_library.
. ./setup.sh
cd "$FSMC_TEST_TMP" || exit 1
mv prefix moved && prefix=$PWD/moved
mkdir project
printf 'entry f (x: Double) : Double = x\n' >project/f.fsm
mkdir project/sub && echo "entry g (x: Double) : Double = x" >project/sub/f.fsm && cp project/f.fsm elsewhere.fsm && cp project/f.fsm f.fsm
try() { # VERSION LANGUAGES TEXT
    rm -rf out
    { printf 'cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES %s)\nfind_package(fsmc %s)\n' "$2" "$1"
      printf 'message(STATUS "found ${fsmc_FOUND} ${fsmc_VERSION}")\n%s\n' "$3"; } >project/CMakeLists.txt
    echo "== $1 $2 $3"
    cmake -S project -B out -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1
    echo "exit $?"
    grep -A1 -E '^-- found|^CMake Error at|fsmc_add_library\(' log | grep -E 'found|fsmc_add_library\([a-z]*\)' | sed 's/^ *//'
}
for version in "" 0.1 0.1.0 0.1.9 0.0 0.2 1.0 "0.1 EXACT"; do try "$version" NONE ""; done
try 0.1 NONE 'fsmc_add_library(t SOURCES f.fsm)'
try 0.1 C 'fsmc_add_library(t)'
try 0.1 C 'fsmc_add_library(t f.fsm)'
try 0.1 C 'fsmc_add_library(t STATIC SHARED SOURCES f.fsm)'
try 0.1 C 'fsmc_add_library(t STATIC PYTHON SOURCES f.fsm)'
try 0.1 C 'fsmc_add_library(t SOURCES f.fsm ../f.fsm)'
try 0.1 C 'fsmc_add_library(t PYTHON SOURCES f.fsm sub/f.fsm)'
try 0.1 C 'fsmc_add_library(t SOURCES f.fsm sub/f.fsm ../elsewhere.fsm)'
find out/fsmc | sort
try 0.1 CXX 'fsmc_add_library(t SHARED SOURCES f.fsm)'
cmake --build out >log 2>&1 && ls out/libt.so
try 0.1 C 'set(BUILD_SHARED_LIBS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
fsmc_add_library(t SOURCES f.fsm sub/f.fsm)
install(TARGETS t LIBRARY DESTINATION lib FILE_SET HEADERS DESTINATION include)
add_custom_target(version COMMAND fsmc::fsmc --version)'
cmake --build out >log 2>&1 && cmake --install out --prefix here >log && find here | sort
cmake --build out --target version | grep -o '^fsmc [0-9.]*'
