#!/bin/sh
# Times gradients on a GPU, and compares results with those of the CPU's code (docs/benchmarks.md).
# usage: bench/gpu/run.sh --shim                    small cases on the processor: only results
#        bench/gpu/run.sh [WORD]...                 the cases whose names contain a word, on this machine's GPU
#        bench/gpu/run.sh --pack FOLDER [WORD]...   writes what that needs to the folder, for `sh FOLDER/go.sh` on a machine that has
#                                                   nvcc and a GPU, and need not have fsmc
# FSMC_BUILD is a build directory (build/, which is made if need be); FSMC_FLAGS are more options for fsmc.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
how=gpu
case ${1:-} in
--shim) how=shim; shift ;;
--pack) how=pack; work=$2; shift 2; mkdir -p "$work" ;;
esac
if [ $how != pack ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
if [ $how = gpu ] && ! nvidia-smi -L >"$work/gpus" 2>&1; then
    echo "skipped: there is no GPU (--shim compares small cases without one)"
    exit 77
fi

# shellcheck disable=SC2086 # words
"$FSMC_BUILD/fsmc" -O3 --fp=fast --target-cpu=native ${FSMC_FLAGS:-} "$here/programs.fsm" -o "$work/cpu.o"
mv "$work/cpu.h" "$work/programs.h"
g++ -std=c++17 -O2 -Wall -Wextra -I "$root/include" -I "$work" "$here/expect.cpp" "$work/cpu.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$work/expect"
[ $how = shim ] && small=--small || small=
"$work/expect" $small "$@" >"$work/expected.txt"
rm "$work/cpu.o" "$work/expect"
# shellcheck disable=SC2086
"$FSMC_BUILD/fsmc" --target=cuda --fp=fast ${FSMC_FLAGS:-} --emit=cuda,header "$here/programs.fsm" -o "$work/programs"

if [ $how = shim ]; then
    for file in "$work/programs.cu" "$here/run.cu"; do
        g++ -std=c++17 -O0 -DFSM_LEAST_PRODUCT=2 -Wall -Wextra -I "$root/include" -I "$work" -I "$here" -x c++ -c "$file" -o "$work/$(basename "$file" .cu).o"
    done
    g++ "$work/programs.o" "$work/run.o" "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$work/run"
    "$work/run" "$work/expected.txt" --small "$@"
    exit
fi
cp "$here/run.cu" "$here/cases.h" "$here/peers.py" "$here/go.sh" "$work"
rm -rf "$work/include" "$work/runtime"
cp -r "$root/include" "$work/include"
mkdir "$work/runtime"
cp "$root"/runtime/*.[ch] "$root"/runtime/*.def "$work/runtime"
[ $how = pack ] || sh "$work/go.sh" "$@"
