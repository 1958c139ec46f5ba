# Sourced by the tests of fsmc-adbench: builds it, and sets adbench.
(flock 9 && cmake --build "$FSMC_BUILD" --target fsmc-adbench) >"$FSMC_TEST_TMP/build.log" 2>&1 9>"$FSMC_BUILD/adbench.lock" || {
    cat "$FSMC_TEST_TMP/build.log"
    exit 1
}
adbench=$FSMC_BUILD/bench/adbench/fsmc-adbench
here=$PWD
unset FSMC_ADBENCH_ENTRIES FSMC_ADBENCH_TOOLS
cd "$FSMC_TEST_TMP" || exit 1
