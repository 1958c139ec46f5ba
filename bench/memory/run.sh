#!/bin/sh
# The scratch memory that derivatives take, besides their inputs and results, and the goal for it (docs/benchmarks.md).
# usage: bench/memory/run.sh [gmm|ba|kmeans|lstm|lstm128]... [OPTION...]
# Options are those of `fsmc bench`. FSMC_BUILD is a build directory (build/, which is made if need be).
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
. "$root/bench/common.sh"
names=
while [ $# -gt 0 ]; do
    case $1 in
    -*) break ;;
    *) names="$names $1" ;;
    esac
    shift
done

# take MOST FILE ENTRY [NAME=VALUE]... [OPTION]...
take() {
    most=$1 file=$2 entry=$3
    shift 3
    "$FSMC_BUILD/fsmc" bench "$root/$file" "$entry" --fp=fast --runs=1 --min-time=0.000001 --json "$@" | tr ',}' '\n\n' |
        awk -v name="$name" -v most="$most" '/"scratch_bytes"/ { printf "%-8s %12d bytes, goal %12d: %s\n", name, $2, most, $2 <= most ? "within" : "over" }'
}

mega=1000000
for name in ${names:-gmm ba kmeans lstm lstm128}; do
    case $name in
    gmm) take $((64 * mega)) examples/gmm.fsm gmm_gradient d=128 k=200 n=1000 m=0 gamma=1.0 "$@" ;;
    ba) take $mega examples/ba.fsm ba_jacobian n=49 m=7776 p=31843 "$@" ;;
    kmeans) take $((4 * mega)) bench/kernels/kernels.fsm kmeans_grad n=100000 m=10 k=100 "$@" ;;
    # The states' trace: two arrays of n numbers for each step.
    lstm) take $((2 * 14 * 8 * 4096 + mega)) bench/memory/lstm.fsm lstm_gradient n=14 m=14 t=4096 "$@" ;;
    lstm128) take $((2 * 128 * 8 * 1000 + mega)) bench/memory/lstm.fsm lstm_gradient n=128 m=64 t=1000 "$@" ;;
    *) echo "there is no $name" >&2 && exit 2 ;;
    esac
done
