#!/bin/sh
# Compares and times what fsmc makes of the programs of [DU] Table 2, of [NP] and of [FS] Fig. 11 and the same written by hand in C
# (docs/benchmarks.md).
# usage: bench/papers/run.sh [--check] [--quick] [NAME]...
#   --check: only compares results, at small sizes; --quick: small sizes and short measurements; NAME: programs whose names contain it
# FSMC_BUILD is a build directory (build/, which is made if need be); FSMC_FLAGS are more options for fsmc.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fast='-O3 -march=native -ffast-math'
case " $* " in *' --check '*) fast='-O1 -march=native' ;; esac # no times are wanted
for program in dont_unroll_adjoint kmeans transport lstm project; do
    # shellcheck disable=SC2086 # words
    "$FSMC_BUILD/fsmc" --target-cpu=native --fp=fast ${FSMC_FLAGS:-} "$here/$program.fsm" -o "$work/$program.o"
done
compile() { "$@" -std=gnu11 -I"$root/include" -I"$work" -c; }
# shellcheck disable=SC2086
{
    compile gcc $fast -Wall -Wextra -DBY=gcc "$here/by_hand.c" -o "$work/gcc.o"
    clang=
    if command -v clang >"$work/which"; then
        compile clang $fast -fveclib=libmvec -DBY=clang "$here/by_hand.c" -o "$work/clang.o"
        clang=-DHAS_CLANG
    fi
    compile gcc -O2 -Wall -Wextra $clang "$here/bench.c" -o "$work/bench.o"
}
gcc "$work"/*.o "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$work/bench"
"$work/bench" "$@"
