# What fsmc makes of the kernels gives the results of the same written by hand in C.
case $CC in *-fsanitize*) echo "the run-time library needs a sanitizer's flags" && exit 77 ;; esac
command -v gcc >/dev/null || { echo "there is no gcc"; exit 77; }
sh "$FSMC_ROOT/bench/kernels/run.sh" --check --quick | sed 's/^[0-9]* kernels/All kernels/'
