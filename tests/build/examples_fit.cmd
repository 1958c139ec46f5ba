# examples/fit by make with pkg-config, by make alone, and by CMake.
tools="make pkg-config"
. ./setup.sh
cp -r "$FSMC_ROOT/examples/fit" "$FSMC_TEST_TMP/fit"
cd "$FSMC_TEST_TMP/fit" || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:$prefix/$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$FSMC_BUILD/CMakeCache.txt")/pkgconfig"
pkg-config --modversion fsmc && pkg-config --validate fsmc
run() { echo "\$ $*" && "$@" 2>&1 | sed "s|$prefix/[^ ]*\(/bin\|/lib\|/include\)|PREFIX\1|g; s/-L[^ ]* //; /^make: \*\*\*/d"; }
run make -s
./fit
run make
touch losses.fsm && make -n | grep -c -e 'fsmc.*decay.fsm' -e 'main.c'
run make -s && mv losses.fsm other.fsm && sed -i 's/losses/other/' decay.fsm && run make -s && ./fit
sed -i 's/squares/sqares/' decay.fsm
run make -s
ls decay.o fit 2>&1
sed -i 's/sqares/squares/' decay.fsm
run make clean && ls
run make -s FSMC="$prefix/bin/fsmc" CPPFLAGS="-I$prefix/include" LDLIBS="$prefix/lib/libfsmrt.a -lm" PKG_CONFIG_PATH=/nowhere && ./fit
make clean >/dev/null
cmake -S . -B out -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 && cmake --build out >log 2>&1 || cat log
out/fit && out/points
