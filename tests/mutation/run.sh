#!/bin/sh
# Breaks the rules of derivatives one at a time and looks whether the tests notice (tests/README.md).
# usage: tests/mutation/run.sh [-l] [-c] [-q] [-t SECONDS] [NAME...]: mutants whose names contain one of the words; -l lists
# them; -c goes on with a campaign that was broken off: those decided in build-mutation/results are not tried again; -q runs
# only the tests that take seconds, and leaves open what they do not notice; -t stops after so long.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
here=$root/tests/mutation
scratch=$root/build-mutation
results=$scratch/results
unit='tests/ad tests/ad_special tests/special_values tests/random_programs'
list='' again='' quick='' seconds=0
while getopts lcqt: option; do
    case $option in
    l) list=1 ;;
    c) again=1 ;;
    q) quick=1 ;;
    t) seconds=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

names() {
    awk -f "$here/operations.awk" "$root/src/ir/ops.def"
    awk -F '\t' '!/^#/ { print $1 }' "$here/rules.tsv"
}
wanted() {
    if [ $# -eq 0 ]; then names; else names | grep -F -- "$(printf '%s\n' "$@")"; fi
}
if [ "$list" ]; then
    wanted "$@"
    exit
fi

# A copy of the sources, in which the operations' derivatives have a file of their own: few objects depend on it.
make_scratch() {
    mkdir -p "$scratch/src" || return 1
    (cd "$root" && git ls-files -z | tar cf - --null -T -) | tar xf - -C "$scratch/src" || return 1
    cp "$scratch/src/src/ir/ops.def" "$scratch/src/src/ad/broken.def"
    sed -i 's|#include "ir/ops.def"|#include "ad/broken.def"|' "$scratch/src/src/ad/partials.c"
    rm -rf "$scratch/as_it_is" && cp -r "$scratch/src/src" "$scratch/as_it_is" || return 1
    touch "$scratch"/src/src/ad/* "$scratch"/src/src/front/elab.c
    ccache=$(command -v ccache)
    cmake -S "$scratch/src" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFSMC_WERROR=OFF \
        ${ccache:+-DCMAKE_C_COMPILER_LAUNCHER="$ccache"} || return 1
    make tests/ad_programs fsmc_fuzz $unit
}
make() { timeout 300 ninja -C "$scratch/build" "$@"; }

# The tests, the quickest first; each true if it passes.
limited() { (ulimit -v 6000000; ulimit -t "$1"; shift; FSMC_ROOT="$scratch/src" FSMC_TEST_TIMEOUT=600 timeout 2400 "$@") >"$scratch/last" 2>&1; }
programs() { limited 400 "$scratch/build/tests/ad_programs" -x "$@"; }
table() {
    limited 60 "$scratch/build/tests/special_values" --table &&
        cmp "$scratch/last" "$root/tests/language/special_values.out"
}
goldens() { limited 60 "$scratch/build/fsmc_tests" "$@"; }
# Sets by to what notices, "" if nothing does; $1: words of programs, and names of golden tests, which have a slash.
find_by() {
    by=compiler && make tests/ad_programs || return
    golden=$(printf '%s\n' $1 | grep /) words=$(printf '%s\n' $1 | grep -v /)
    # shellcheck disable=SC2086 # words
    [ ! "$golden" ] || { by=$golden && make fsmc fsmc_tests && goldens $golden; } || return
    by='programs as written' && programs -w || return
    # shellcheck disable=SC2086
    by=$1 && programs -i $words || return
    by=compiler && make fsmc_fuzz $unit || return
    by='random programs as written' && limited 60 "$scratch/build/fsmc_fuzz" -w -x -k 0 -z 22 -n 1000 || return
    by=special_values && table || return
    by=ad && limited 60 "$scratch/build/tests/ad" || return
    by=ad_special && limited 120 "$scratch/build/tests/ad_special" || return
    # shellcheck disable=SC2086 # the first word
    by="$1, compiled" && programs ${words%% *} || return
    [ ! "$quick" ] || { by=; return; }
    by=ad_programs && programs -i || return
    by=random_programs && limited 300 "$scratch/build/tests/random_programs" || return
    by=
}

mkdir -p "$scratch"
{ make_scratch && find_by "elementwise language/jacobian_sparse language/smooth cpu/extern_arrays" && [ ! "$by" ]; } >"$scratch/log" 2>&1 || {
    echo "the tests fail without a mutant: see $scratch/log"
    exit 1
}
if [ ! "$again" ] || [ ! -f "$results" ]; then : >"$results"; fi
note() { printf '%-9s %s\n' "$1" "$2" | tee -a "$results"; }
start=$(date +%s)
for name in $(wanted "$@"); do
    [ "$seconds" -eq 0 ] || [ $(($(date +%s) - start)) -lt "$seconds" ] || break
    if grep -qE "^(caught|SURVIVED|stale) +$name(:|$)" "$results"; then continue; fi
    sed -i "/^open  *$name$/d" "$results"
    line=$(awk -F '\t' -v name="$name" '!/^#/ && $1 == name' "$here/rules.tsv")
    if [ "$line" ]; then
        file=$(printf '%s\n' "$line" | cut -f 2)
        sed -E "$(printf '%s\n' "$line" | cut -f 3)" "$scratch/as_it_is/ad/$file" >"$scratch/mutant"
        first=$(printf '%s\n' "$line" | cut -f 4)
    else
        file=broken.def first=elementwise
        case $name in *.tie) first="ties language/smooth" ;; esac
        if grep -q "^HELD(${name%%.*}," "$root/src/ir/ops.def"; then first="ties language/smooth"; fi
        awk -v want="$name" -f "$here/operations.awk" "$scratch/as_it_is/ad/$file" >"$scratch/mutant"
    fi
    if cmp -s "$scratch/mutant" "$scratch/as_it_is/ad/$file"; then
        note stale "$name"
        continue
    fi
    cp "$scratch/mutant" "$scratch/src/src/ad/$file"
    find_by "$first" >"$scratch/log" 2>&1
    cp "$scratch/as_it_is/ad/$file" "$scratch/src/src/ad/$file"
    if [ "$by" ]; then note caught "$name: $by"; elif [ "$quick" ]; then note open "$name"; else note SURVIVED "$name"; fi
done
awk '$1 == "caught" { caught++ } $1 != "stale" { tried++ } $1 == "caught" && $3 == "compiler" { compiler++ }
    $1 != "caught" { print $1, $2; left++ }
    END { printf "%d of %d caught, %d of them by the C compiler\n", caught, tried, compiler; exit left > 0 }' "$results"
