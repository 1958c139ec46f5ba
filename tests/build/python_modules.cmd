# Python modules made by CMake, beside the library, and made again.
tools="ninja ${FSMC_PYTHON:-python3}"
. ./setup.sh
export PYTHONDONTWRITEBYTECODE=1
cd "$FSMC_TEST_TMP" || exit 1
mkdir source source/sub
cat >source/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES C)
find_package(fsmc REQUIRED)
fsmc_add_library(models PYTHON SOURCES f.fsm sub/g.fsm OPTIONS -O1)
set_target_properties(models PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/place OUTPUT_NAME m)
add_executable(c_user main.c)
target_link_libraries(c_user PRIVATE models)
install(TARGETS models LIBRARY DESTINATION pack)
install(FILES $<TARGET_FILE_DIR:models>/f.py $<TARGET_FILE_DIR:models>/g.py DESTINATION pack)
END
echo 'let twice x = 2.0 * x' >source/common.fsm
printf 'open "common.fsm"\n\n// Doubles.\nentry f (x: Double[n]) : Double[n] = map twice x\n' >source/f.fsm
printf 'entry g (x: Double) : Double = x * x\n' >source/sub/g.fsm
printf '#include "sub/g.h"\n#include <stdio.h>\nint main(void) { fsm_context *c = fsm_context_new(); double y; g(c, 3, &y); printf("C: %%g\\n", y); fsm_context_free(c); }\n' >source/main.c
build() {
    echo "== $1"
    cmake --build out >log 2>&1 || grep error log | sed "s|$FSMC_TEST_TMP/||"
    sed -n 's/.*\(Compiling .*fsm\)$/\1/p' log | sort
}
call() { PYTHONPATH=$1 "${FSMC_PYTHON:-python3}" -c "import f, g; print(f.f([1, 2]).tolist(), g.g(3), f.f.__doc__.split()[0])"; }
cmake -S source -B out -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || { cat log && exit 1; }
build "the first time"
ls out/place
call out/place && out/c_user
build again
echo 'let twice x = 20.0 * x' >source/common.fsm
sed -i 's/Doubles/Multiplies/' source/f.fsm
build "other files"
call out/place
echo 'let twice x = y' >source/common.fsm
build "an error"
echo 'let twice x = 2.0 * x' >source/common.fsm
build "mended"
cmake --install out --prefix there >log && mv there/pack moved && rm -rf out && ls moved && call moved
