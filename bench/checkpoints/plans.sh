#!/bin/sh
# What the plans of checkpointing cost: nanoseconds and bytes for each iteration of a loop (docs/benchmarks.md).
# usage: bench/checkpoints/plans.sh [ITERATIONS [PLAN...]]; builds fsmc if need be.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd -P)
. "$root/bench/common.sh"
n=${1:-10000000}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- primal all chosen square cube binomial64K binomial4K binomial512 walkPrimal undo
echo "plan | ns per iteration | scratch bytes"
for plan in "$@"; do
    case $plan in
    walkPrimal | undo) array='a=[0.1, 0.9, 0.3, 0.5, 0.7, 0.2, 0.6, 0.4]' ;;
    *) array= ;;
    esac
    "$FSMC_BUILD/fsmc" bench --json --runs=3 --min-time=0.001 "$root/bench/checkpoints/plans.fsm" "$plan" ${array:+"$array"} x=0.5 "n=$n" |
        sed 's/[{}",]//g' | awk -v n="$n" -v plan="$plan" '{
            for (i = 1; i < NF; i++) { if ($i == "median_s:") t = $(i + 1); if ($i == "scratch_bytes:") bytes = $(i + 1) }
            printf "%s | %.1f | %d\n", plan, t * 1e9 / n, bytes }'
done
