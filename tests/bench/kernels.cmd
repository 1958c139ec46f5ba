# What fsmc makes of the kernels, with and without lanes, gives the results of the same written by hand in C.
case $CC in *-fsanitize*) echo "the run-time library needs a sanitizer's flags" && exit 77 ;; esac
command -v gcc >/dev/null || { echo "there is no gcc"; exit 77; }
check() { sh "$FSMC_ROOT/bench/kernels/run.sh" --check --quick; }
check | sed 's/^[0-9]* kernels/All kernels/'
FSMC_FLAGS=--lanes=0 check | sed 's/^[0-9]* kernels/All kernels/'
