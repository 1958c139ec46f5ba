# Several configurations in one build, each with its own objects and options.
tools="ninja"
. ./setup.sh
cp -r consumer "$FSMC_TEST_TMP/source"
cd "$FSMC_TEST_TMP" || exit 1
cmake -S source -B out -G "Ninja Multi-Config" -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || { cat log && exit 1; }
build() {
    echo "== $1"
    cmake --build out --config "$1" >log 2>&1 || cat log
    sed -n 's/.*Compiling \(.*\.fsm\)$/compiled \1/p' log | sort
}
build Debug
out/Debug/app && out/Debug/app_cpp
build Release
out/Release/app && out/Release/wrapped
build Debug
build Release
touch source/models/beside.fsm
build Release
build Debug
find out/fsmc -name model.h | sort
