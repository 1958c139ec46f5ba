#!/bin/sh
# The figures of docs/benchmarks.md: all tools, with one thread and with two, and reports of both.
# usage: bench/adbench/measure.sh OUT [OPTION...]
# Results come to OUT/1 and OUT/2; what is there already is not measured again. Options are those of `fsmc-adbench run`.
# FSMC_ADBENCH names a folder with ADBench's data, FSMC_PYTHON a Python with JAX and PyTorch. FSMC_BUILD is a build directory (build/).
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

set -f
names='gmm/1k/gmm_d2_K5 gmm/1k/gmm_d10_K25 gmm/1k/gmm_d20_K50 gmm/1k/gmm_d64_K25 gmm/10k/gmm_d10_K25 ba/ba1_* ba/ba3_* lstm/* hand/*/hand1_* hand/*/hand5_*'
long=gmm/10k/gmm_d32_K50 # its tapes are too long
for threads in 1 2; do
    own=fsmc clock=cpu
    [ $threads = 1 ] || own=fsmc-threads clock=wall
    run() {
        FSMC_ADBENCH_CLOCK=$clock "$adbench" run --threads=$threads --out="$out/$threads" --minimum=0.02 --samples=5 --derivative-samples=5 \
            --limit=1 --timeout=60 --rounds=3 "$@"
    }
    # shellcheck disable=SC2086 # words
    run --tool=all "$@" $names || echo "some tools failed, or results differ" >&2
    run --tool=$own --tool=manual-gcc --tool=manual-clang --tool=jax --tool=pytorch "$@" $long || echo "some tools failed, or results differ" >&2
done
for threads in 1 2; do
    "$adbench" table --out="$out/$threads"
    "$adbench" report --out="$out/$threads" || true
done
