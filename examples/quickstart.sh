#!/bin/sh
# From an F~ source to a running gradient: builds fsmc, compiles examples/gmm.fsm, links it with examples/gmm.c and runs
# that on a Gaussian-mixture problem. usage: examples/quickstart.sh [DATA [EXPECTED]]
# DATA is a file in ADBench's format (made here with d=10, K=25, n=1000 if none is given), EXPECTED a file of expected
# values (see gmm.c).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/cmake/setup.sh"

data=${1:+$(realpath "$1")}
expected=${2:+$(realpath "$2")}

trap 'test $? -eq 0 || echo "quickstart: FAILED"' EXIT
install_missing
build_preset release fsmc fsmrt
work=$build/quickstart
mkdir -p "$work"
cd "$work"

show() {
    echo "\$ $*"
    "$@"
}

if [ -z "$data" ]; then
    data=$work/gmm_d10_K25.txt
    cc -O2 "$root/examples/gmm_data.c" -lm -o gmm_data
    ./gmm_data 10 25 1000 1 >"$data"
fi

start=$(date +%s%N)
show "$build/fsmc" "$root/examples/gmm.fsm" -o gmm.o
end=$(date +%s%N)
echo "compiled to gmm.o and gmm.h in $(((end - start) / 1000000)) ms"

show cc -O2 -I. -I"$root/include" "$root/examples/gmm.c" gmm.o "$build/libfsmrt.a" -lm -o gmm

./gmm "$data" ${expected:+--compare "$expected"}
echo "quickstart: passed: the gradient that fsmc derived agrees with differences of the objective"
