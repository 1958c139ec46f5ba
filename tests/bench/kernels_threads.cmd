# What fsmc makes of the kernels gives the same bits with 1, 2, 3 and 8 threads.
case $CC in *-fsanitize*) echo "the run-time library needs a sanitizer's flags" && exit 77 ;; esac
command -v gcc >/dev/null || { echo "there is no gcc"; exit 77; }
# At -O1, which has no lanes: what all kernels are at -O2 takes seven times as long to compile.
FSMC_FLAGS=-O1 sh "$FSMC_ROOT/bench/kernels/run.sh" --threads 2 --check --quick | sed 's/^[0-9]* kernels/All kernels/'
