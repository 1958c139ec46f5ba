#!/bin/sh
# Compares and times what fsmc makes of the Gaussian mixture and the same written by hand with vectors (docs/benchmarks.md).
# usage: bench/gmm/run.sh [--check] [--quick] [D K N]...
#   --check: only compares the results; --quick: short measurements, and with --check small sizes; D, K, N: other sizes
# FSMC_BUILD is a build directory (build/, which is made if need be); FSMC_FLAGS are more options for fsmc.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # words
"$FSMC_BUILD/fsmc" --target-cpu=native --fp=fast ${FSMC_FLAGS:-} "$root/examples/gmm.fsm" -o "$work/mixture.o"
compile() { gcc -std=gnu11 -I"$root/include" -I"$work" -c "$@"; }
fast='-O3 -march=native -ffast-math'
# shellcheck disable=SC2086
compile $fast -Wno-psabi "$here/limit.c" -o "$work/limit.o"
# shellcheck disable=SC2086
compile $fast "$here/../kernels/roofline.c" -o "$work/roofline.o"
compile -O2 -Wall -Wextra "$here/gmm.c" -o "$work/gmm.o"
gcc "$work"/*.o "$FSMC_BUILD/libfsmrt.a" -lmvec -lm -o "$work/gmm"
"$work/gmm" "$@"
