# Kernels in a project without CMake's language CUDA: a C++ compiler compiles them. And what the manifest says of them.
tools="ninja g++"
. ./setup.sh
cp -r gpu "$FSMC_TEST_TMP/source"
cd "$FSMC_TEST_TMP" || exit 1
for generator in Ninja "Ninja Multi-Config"; do
    echo "== $generator"
    cmake -S source -B out -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" -DGPU_LANGUAGE=CXX >log 2>&1 || cat log
    build() { cmake --build out --config Debug 2>&1 | grep -oE 'Compiling.*fsm|rows.kernels.cpp|no work to do|error.*' || echo "nothing"; }
    build
    $(find out -name app -type f)
    build
    touch source/models/rows.fsm
    build
    rm -r out
done
cmake -S source -B out -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DGPU_LANGUAGE=C 2>&1 | grep -A 1 'the project needs'
"$prefix/bin/fsmc" --target=cuda --emit=manifest source/models/rows.fsm | grep -E '"(device|-lcudart)'
