#!/bin/sh
# Compares and times what fsmc makes of the kernels in kernels.fsm and the same written by hand in C (docs/benchmarks.md).
# usage: bench/kernels/run.sh [--check] [--quick] [--roofline] [--threads N] [--only NAME]...
#   --check: only compares the results; --quick: short measurements, and with --check small sizes only
#   --roofline: times elementwise kernels and reductions alone, beside what moving, calling and calculating take at least
#   --threads N: times calls in N threads against N copies of them at once, at larger sizes; with --check, compares the bits of
#   results with 1, 2, 3 and 8 threads
# FSMC_BUILD is a build directory (build/, which is made if need be); FSMC_FLAGS are more options for fsmc.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

threads=
for word; do
    [ "$word" != --threads ] || threads=--threads=1
done
fast='-O3 -march=native -ffast-math'
case " $* " in *' --check '*) fast='-O1 -march=native' ;; esac # no times are wanted
# shellcheck disable=SC2086 # words
"$FSMC_BUILD/fsmc" --target-cpu=native --fp=fast $threads ${FSMC_FLAGS:-} "$here/kernels.fsm" -o "$work/kernels_fsm.o"
compile() { "$@" -std=gnu11 -I"$root/include" -I"$work" -c; }
# shellcheck disable=SC2086
{
    compile gcc $fast -DBY=gcc "$here/by_hand.c" -o "$work/gcc.o"
    compile gcc $fast "$here/roofline.c" -o "$work/roofline.o"
    clang=
    if command -v clang >"$work/which"; then
        compile clang $fast -fveclib=libmvec -DBY=clang "$here/by_hand.c" -o "$work/clang.o"
        clang=-DHAS_CLANG
    fi
    compile gcc -O2 -Wall -Wextra $clang "$here/bench.c" -o "$work/bench.o"
}
gcc "$work"/*.o "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$work/bench"
"$work/bench" "$@"
