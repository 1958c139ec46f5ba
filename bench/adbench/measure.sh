#!/bin/sh
# The figures of docs/benchmarks.md: all tools in one run, alternately, with one thread and with two, and reports of both.
# usage: bench/adbench/measure.sh OUT [--threads=N] [--tool=TOOL...] [OPTION...] [NAME...]
# Results come to OUT/1 and OUT/2 (--threads=1 and --threads=2: only there); what is there already is not measured again, so
# that it can be stopped, and run in parts: NAME is an instance or a pattern; without one, what ADBench runs. Options are
# those of `fsmc-adbench run`. FSMC_ADBENCH names a folder with ADBench's data, FSMC_PYTHON a Python with JAX and PyTorch,
# FSMC_ADBENCH_TOOLS a folder of other tools. FSMC_BUILD is a build directory (build/).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
. "$root/bench/common.sh"
mkdir -p "${1:?OUT}"
out=$(cd "$1" && pwd -P)
shift
cmake --build "$FSMC_BUILD" --target fsmc-adbench >"$out/build.log" || { cat "$out/build.log"; exit 1; }
adbench=$FSMC_BUILD/bench/adbench/fsmc-adbench
tapes=$(mktemp -d) # ADOL-C writes tapes that are too long for memory where it runs
trap 'rm -rf "$tapes"' EXIT
cd "$tapes"

counts='1 2' names=
words=$# tools=
while [ "$words" -gt 0 ]; do
    word=$1
    shift
    words=$((words - 1))
    case $word in
    --threads=*) counts=${word#*=} ;;
    --tool=*) tools=given && set -- "$@" "$word" ;;
    --*) set -- "$@" "$word" ;;
    *) names="$names $word" ;;
    esac
done
[ -n "$tools" ] || set -- --tool=all "$@"

set -f
for threads in $counts; do
    clock=cpu
    [ "$threads" = 1 ] || clock=wall
    # shellcheck disable=SC2086 # words
    FSMC_ADBENCH_CLOCK=$clock "$adbench" run --threads="$threads" --out="$out/$threads" --minimum=0.01 --samples=3 \
        --derivative-samples=3 --limit=1 --timeout=20 --memory=6 --rounds=2 "$@" $names ||
        echo "some tools failed, or results differ" >&2
done
for threads in $counts; do
    "$adbench" table --out="$out/$threads"
    "$adbench" report --out="$out/$threads" || true
done
