#!/bin/sh
# Times the product of two n x n matrices and its gradient beside OpenBLAS, with one thread (docs/benchmarks.md).
# usage: bench/kernels/blas.sh [N]...
# It needs OpenBLAS (Debian: libopenblas-dev), and does nothing without. FSMC_BUILD and FSMC_FLAGS are as for run.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '#include <cblas.h>\nint main(void) { return !openblas_get_corename(); }\n' >"$work/there.c"
if ! gcc "$work/there.c" -lopenblas -o "$work/there" 2>"$work/why"; then
    echo "skipped: matmul beside OpenBLAS: there is no OpenBLAS (Debian: libopenblas-dev)"
    exit
fi
# shellcheck disable=SC2086 # words
"$FSMC_BUILD/fsmc" --target-cpu=native --fp=fast --entry=matmul --entry=matmul_grad ${FSMC_FLAGS:-} "$here/kernels.fsm" -o "$work/matmul.o"
compile() { gcc -std=gnu11 -I"$root/include" -I"$work" -c "$@"; }
compile -O3 -march=native -ffast-math "$here/roofline.c" -o "$work/roofline.o"
compile -O2 -Wall -Wextra "$here/blas.c" -o "$work/blas.o"
gcc "$work"/*.o "$FSMC_BUILD/libfsmrt.a" -lopenblas -lm -o "$work/blas"
OPENBLAS_NUM_THREADS=1 "$work/blas" "$@"
