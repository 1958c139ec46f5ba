#!/bin/sh
# Times gradients on a GPU, and compares results with those of the CPU's code (docs/benchmarks.md).
# usage: bench/gpu/run.sh --shim [--peers] [WORD]... small cases on the processor: only results; with --peers, PyTorch and JAX, too
#        bench/gpu/run.sh [WORD]...                 the cases whose names contain a word, on this machine's GPU
#        bench/gpu/run.sh --pack FOLDER [WORD]...   writes what that needs to the folder, for `sh FOLDER/go.sh` on a machine that has
#                                                   nvcc and a GPU, and need not have fsmc
# FSMC_BUILD is a build directory (build/, which is made if need be); FSMC_FLAGS are more options for fsmc;
# FSMC_EXPECT those of the code that tells what results should be, in the place of -O3.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
how=gpu
case ${1:-} in
--shim) how=shim; shift; [ "${1:-}" != --peers ] || { how=peers; shift; } ;;
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

# one NAME FILE ENTRY...: NAME.cu, .h and .o, with these entries.
one() {
    name=$1 file=$2 entries=
    shift 2
    for entry; do entries="$entries --entry=$entry"; done
    # shellcheck disable=SC2086 # words
    "$FSMC_BUILD/fsmc" ${FSMC_EXPECT:--O3} --fp=fast --target-cpu=native ${FSMC_FLAGS:-} $entries "$file" -o "$work/$name.o" &&
        "$FSMC_BUILD/fsmc" --target=cuda --fp=fast ${FSMC_FLAGS:-} $entries --emit=cuda,header "$file" -o "$work/$name"
}
one programs "$here/programs.fsm"
one ba "$root/examples/ba.fsm" ba_jacobian
one hand "$root/bench/adbench/hand.fsm" hand_simple_jacobian hand_complicated_jacobian
one transport "$root/bench/papers/transport.fsm" xsGradient rsGradient
# shellcheck disable=SC2046 # words
one kernels_fsm "$root/bench/kernels/kernels.fsm" $(sed -n 's/^entry \([A-Za-z0-9]*_grad\) .*/\1/p' "$root/bench/kernels/kernels.fsm")
cp "$root/bench/kernels/kernels.h" "$work/kernel_table.h"
g++ -std=c++17 -O2 -Wall -Wextra -I "$root/include" -I "$work" "$here/expect.cpp" "$work"/*.o "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$work/expect"
[ $how = shim ] || [ $how = peers ] && small=--small || small=
"$work/expect" $small "$@" >"$work/expected.txt"
rm "$work"/*.o "$work/expect"

if [ "$small" ]; then
    for file in "$work"/*.cu "$here/run.cu"; do
        echo "$file"
    done | xargs -P 2 -I FILE sh -c '${FSMC_CXX:-g++} -std=c++17 -O0 -DFSM_LEAST_PRODUCT=2 -Wall -Wextra -Wno-parentheses-equality -I "$1/include" -I "$2" -I "$3" -x c++ -c FILE -o "$2/$(basename FILE .cu).o"' sh "$root" "$work" "$here"
    g++ "$work"/*.o "$FSMC_BUILD/libfsmrt.a" -lm -pthread -o "$work/run"
    [ $how = peers ] || { "$work/run" "$work/expected.txt" --small "$@"; exit; }
    "$work/run" "$work/expected.txt" --small --json "$work/times.json" "$@"
    "${FSMC_PYTHON:-python3}" "$here/peers.py" --cpu "$work/run" "$work/expected.txt" "$work/times.json"
    exit
fi
cp "$here/run.cu" "$here/cases.h" "$here/peers.py" "$here/go.sh" "$work"
rm -rf "$work/include" "$work/runtime"
cp -r "$root/include" "$work/include"
mkdir "$work/runtime"
cp "$root"/runtime/*.[ch] "$root"/runtime/*.def "$work/runtime"
[ $how = pack ] || sh "$work/go.sh" "$@"
