# For the tests of this folder: skips without cmake and $tools, and installs the build to $prefix.
for tool in cmake ${tools:-}; do
    command -v "$tool" >/dev/null || { echo "there is no $tool" && exit 77; }
done
case $CC in *-fsanitize*) echo "the run-time library has sanitizers, which the consumer does not" && exit 77 ;; esac
prefix=$FSMC_TEST_TMP/prefix
here=$PWD
unset CFLAGS CXXFLAGS LDFLAGS FSMC_DIR CMAKE_PREFIX_PATH MAKEFLAGS
export CMAKE_BUILD_PARALLEL_LEVEL=2
cmake --install "$FSMC_BUILD" --prefix "$prefix" >"$FSMC_TEST_TMP/install.log" || { cat "$FSMC_TEST_TMP/install.log" && exit 1; }
