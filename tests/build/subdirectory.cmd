# The source folder of fsmc added to a project: what would be built, and nothing else of it.
tools="ninja"
. ./setup.sh
cp -r consumer "$FSMC_TEST_TMP/source"
cd "$FSMC_TEST_TMP" || exit 1
sed -i "s|^find_package.*|add_subdirectory($FSMC_ROOT fsmc EXCLUDE_FROM_ALL)|" source/CMakeLists.txt
export CMAKE_PREFIX_PATH="$(sed -n 's/^CMAKE_PREFIX_PATH:[A-Z]*=//p' "$FSMC_BUILD/CMakeCache.txt")"
cmake -S source -B out -G Ninja >log 2>&1 || { cat log && exit 1; }
grep CMAKE_BUILD_TYPE: out/CMakeCache.txt
cd out || exit 1
ninja -t commands all >log
sed -n "s|.* -o \(fsmc/[^ ]*\) .*libfsmc_core.*|links \1|p; s|.*\(fsmc/fsmc\) .* -MT $PWD/\(.*\.o\) -o.*|\1 makes \2|p" log | sort
ninja -t targets all | grep -c -e fsmc_tests -e fsmc_fuzz
cmake --install . --prefix "$FSMC_TEST_TMP/installed" >log 2>&1
find "$FSMC_TEST_TMP" -path '*installed*' | grep -c fsmc
true
