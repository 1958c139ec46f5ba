#!/bin/sh
# Tests that need a GPU (tests/run.sh --gpu). usage: tests/gpu.sh BUILD [NAME]...: all of them, or those named
#
#   programs      every program of tests/ad, its derivatives, against the interpreter (cuda_programs -g), with the same bits again
#   second        second derivatives of a few
#   repeats       the programs of tests/cuda print the same bits each time
#   bench         the results of bench/gpu against the CPU's code, and the same in each call
#   memcheck …    a few programs under each tool of compute-sanitizer
#
# FSM_NVCC is nvcc, FSM_ARCH the kind of GPU (native), FSM_SANITIZER compute-sanitizer. What cannot be done is skipped, by name.
# The last line is "N passed, N failed[, N skipped]"; the exit status is 0 only if nothing failed.
set -u
root=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1
build=$(cd "$1" && pwd -P) || exit 1
shift
only=$*
nvcc=${FSM_NVCC:-nvcc}
sanitizer=${FSM_SANITIZER:-compute-sanitizer}
arch=${FSM_ARCH:-native}
second="folds.fsm scans.fsm softmax.fsm scatters.fsm selects.fsm matrix_products.fsm mixture.fsm"
subset="folds histograms reductions matrix_products scattered softmax" # of the sanitizer, under which programs take long
tools="memcheck racecheck initcheck synccheck"
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

ok() { passed=$((passed + 1)); echo "ok $1"; }
bad() { failed=$((failed + 1)); echo "FAILED $1"; sed 's/^/    /' "$work/log" | tail -n 40; }
skip() { skipped=$((skipped + 1)); echo "skipped $1: $2"; }
# is_meant NAME: it is named on the command line, or nothing is.
is_meant() { case " $only " in "  " | *" $1 "*) true ;; *) false ;; esac; }
# test_of NAME COMMAND…: what it prints is shown where it fails; status 77: it is skipped.
test_of() {
    is_meant "${1%% *}" || return 0
    name=$1
    shift
    "$@" >"$work/log" 2>&1
    case $? in
    0) ok "$name" ;;
    77) skip "$name" "$(tail -n 1 "$work/log")" ;;
    *) bad "$name" ;;
    esac
}

missing=
nvidia-smi -L >/dev/null 2>&1 || missing="there is no GPU"
command -v "$nvcc" >/dev/null || missing=${missing:-"nvcc is not installed"}

programs() {
    mkdir -p "$work/$1" || return 1
    folder=$1
    shift
    FSMC_ROOT=$root FSMC_BUILD=$build FSMC_TEST_TMP=$work/$folder FSM_NVCC=$nvcc FSM_ARCH=$arch "$@"
}

repeats() {
    (cd "$root/tests/cuda" && "$nvcc" -std=c++17 -O2 -arch="$arch" -I "$root/include" -I . -o "$work/$1" "$1.cu" "$build/libfsmrt.a" -lm -lpthread) || return 1
    "$work/$1" >"$work/first" || return 1
    for again in 1 2 3 4; do
        "$work/$1" >"$work/again" && cmp "$work/first" "$work/again" || return 1
    done
    sed 's/ [0-9a-f]\{16\}$//' "$work/first" | diff - "$root/tests/cuda/$1.out"
}

if [ -n "$missing" ]; then
    for name in programs second "repeats call" "repeats pool" "repeats primitives" bench $tools; do
        is_meant "${name%% *}" && skip "$name" "$missing"
    done
else
    test_of programs programs all "$build/tests/cuda_programs" -g
    # shellcheck disable=SC2086 # words
    test_of second programs second "$build/tests/cuda_programs" -2 -g $second
    for name in call pool primitives; do test_of "repeats $name" repeats $name; done
    test_of bench env FSMC_BUILD="$build" FSM_NVCC="$nvcc" sh "$root/bench/gpu/run.sh" 7x3x4 300x8x5 40x17x3 3x70x5 6x30x4 5x4x3x6 1x7x5x8 "ba 3x" "hand 22x30x" "hand_complicated 22x30x" "xs 6x" "rs 6x"
    asked=
    for tool in $tools; do is_meant $tool && asked="$asked $tool"; done
    # shellcheck disable=SC2086 # words
    if [ -z "$asked" ]; then
        :
    elif ! command -v "$sanitizer" >/dev/null; then
        for tool in $asked; do skip $tool "compute-sanitizer is not installed"; done
    elif programs few "$build/tests/cuda_programs" -g $subset >"$work/log" 2>&1; then
        for tool in $asked; do
            test_of $tool programs few "$sanitizer" --tool $tool --error-exitcode 1 "$build/tests/cuda_programs" -g -k $subset
        done
    else
        bad "programs for compute-sanitizer"
    fi
fi
echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ]
