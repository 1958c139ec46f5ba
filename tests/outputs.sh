#!/bin/sh
# Whether everything that the compiler prints can be used, for every program: no kind of output may crash or be an internal error,
# and what is printed must be read again: F~, values and loop trees by the compiler, headers by compilers, modules by Python.
#
# usage: tests/outputs.sh FSMC [FILE-OR-WORD...]    prints a line for each fault; the last line counts
# A WORD leaves only programs of the tests, examples and benchmarks whose path contains it; a FILE is another program.
# FSMC_OUTPUTS_JOBS: how many at a time (the number of processors). FSMC_OUTPUTS_SECONDS: the limit of each command (20); what takes
# longer is no fault, but is named. FSMC_OUTPUTS_LEVELS: of optimisation (0 2).
. "$(dirname "$0")/each_program.sh"

if [ "${1:-}" = --program ]; then
    export TMPDIR="$tmp" # reproducers of internal errors
    ulimit -c 0
    # What it says goes to $tmp/out. 0: it succeeded. 1: the program is wrong. More: a fault, or it took too long.
    try() { # WHAT COMMAND...
        what=$1
        shift
        sh -c 'ulimit -t "$0" && exec "$@"' "${FSMC_OUTPUTS_SECONDS:-20}" "$@" >"$tmp/out" 2>&1
        code=$?
        case $code in
            0 | 1) return $code ;;
            137 | 152) echo "slow: $program $what" ;;
            *) echo "fault: $program $what: exit $code: $(grep -a 'error' "$tmp/out" | head -n 1 | cut -c1-200)" ;;
        esac
        return 2
    }
    must() { # the same, where 1 is a fault too
        try "$@"
        code=$?
        [ $code != 1 ] || echo "fault: $program $1: $(grep -a 'rror' "$tmp/out" | head -n 1 | cut -c1-200)"
        return $code
    }
    readable() { # LEVEL: what is in $tmp
        for kind in out.fsm ir tree; do
            [ ! -f "$tmp/x.$kind" ] || must "-O$1 $kind read again" "$fsmc" check "$tmp/x.$kind"
        done
        [ ! -f "$tmp/x.h" ] || must "-O$1 header" ${CC:-cc} -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c "$tmp/x.h"
        [ ! -f "$tmp/x.hpp" ] || must "-O$1 cpp" ${FSMC_CXX:-c++} -std=c++17 -Wall -Wextra -Werror -Iinclude -fsyntax-only -x c++ "$tmp/x.hpp"
        [ ! -f "$tmp/x.json" ] || must "-O$1 manifest" "${FSMC_PYTHON:-python3}" -m json.tool "$tmp/x.json" "$tmp/json"
        [ ! -f "$tmp/x.py" ] || must "-O$1 python" "${FSMC_PYTHON:-python3}" -m py_compile "$tmp/x.py"
        rm -f "$tmp"/x.*
    }
    try check "$fsmc" check "$program"
    usable=$?
    if try fmt "$fsmc" fmt - <"$program" && cp "$tmp/out" "$tmp/once.fsm"; then
        must 'fmt of fmt' "$fsmc" fmt --check "$tmp/once.fsm"
    fi
    for level in ${FSMC_OUTPUTS_LEVELS:-0 2}; do
        try "-O$level" "$fsmc" "$program" --emit=fsm,ir,dot,loops,tree,llvm,header,manifest,cpp -O$level -o "$tmp/x.o" && readable $level
        [ $usable = 1 ] || try "-O$level cuda" "$fsmc" "$program" --emit=cuda --target=cuda -O$level -o "$tmp/x.cu"
        rm -f "$tmp"/x.*
    done
    try python "$fsmc" "$program" --emit=python -o "$tmp/x.py" && readable 2
    echo done
    exit 0
fi

[ $# -gt 0 ] || usage
fsmc=$(realpath "$1") && [ -x "$fsmc" ] || usage
shift
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
each_program "${FSMC_OUTPUTS_JOBS:-}" "$fsmc" "$@" | tee "$out" | awk '$0 != "done" { print; fflush() }'
echo "$(grep -c '^done$' "$out") programs, $(grep -c '^fault' "$out") faults, $(grep -c '^slow' "$out") too slow"
[ "$(grep -c '^fault' "$out")" = 0 ] && grep -q '^done$' "$out"
