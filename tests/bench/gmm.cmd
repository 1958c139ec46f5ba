# The Gaussian mixture by fsmc and by hand with vectors: the same results.
case $CC in *-fsanitize*) echo "the run-time library needs a sanitizer's flags" && exit 77 ;; esac
command -v gcc >/dev/null || { echo "there is no gcc"; exit 77; }
grep -q avx2 /proc/cpuinfo || { echo "limit.c needs AVX2"; exit 77; }
sh "$FSMC_ROOT/bench/gmm/run.sh" --check --quick
