#!/bin/sh
# Breaks the rules of derivatives one at a time and looks whether the tests notice (tests/README.md).
# usage: tests/mutation/run.sh [-l] [-t SECONDS] [NAME...]: mutants whose names contain one of the words; -l lists them;
# -t stops after so long.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
here=$root/tests/mutation
scratch=$root/build-mutation
list='' seconds=0
while getopts lt: option; do
    case $option in
    l) list=1 ;;
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
    rm -rf "$scratch/as_it_is" && cp -r "$scratch/src/src/ad" "$scratch/as_it_is" || return 1
    ccache=$(command -v ccache)
    cmake -S "$scratch/src" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFSMC_WERROR=OFF \
        ${ccache:+-DCMAKE_C_COMPILER_LAUNCHER="$ccache"} || return 1
    make tests/ad_programs tests/ad tests/ad_special tests/special_values fsmc_fuzz
}
make() { timeout 300 ninja -C "$scratch/build" "$@"; }

# The tests, the quickest first; each true if it passes.
limited() { (ulimit -v 6000000; ulimit -t "$1"; shift; FSMC_ROOT="$scratch/src" timeout 600 "$@") >"$scratch/last" 2>&1; }
programs() { limited 60 "$scratch/build/tests/ad_programs" -i "$@"; }
table() {
    make tests/special_values && limited 60 "$scratch/build/tests/special_values" --table &&
        cmp "$scratch/last" "$root/tests/language/special_values.out"
}
others() {
    make tests/ad tests/ad_special fsmc_fuzz && limited 60 "$scratch/build/tests/ad" &&
        limited 120 "$scratch/build/tests/ad_special" && limited 300 "$scratch/build/fsmc_fuzz" -1 -n 300 -z 22 -k 0
}
# Sets by to what notices, "" if nothing does.
find_by() {
    make tests/ad_programs || { by=compiler; return; }
    # shellcheck disable=SC2086 # words
    programs $1 || { by=$1; return; }
    table || { by=special_values; return; }
    programs || { by=ad_programs; return; }
    others || { by=others; return; }
    by=
}

mkdir -p "$scratch"
{ make_scratch && programs && table; } >"$scratch/log" 2>&1 || {
    echo "the tests fail without a mutant: see $scratch/log"
    exit 1
}
start=$(date +%s) tried=0 caught=0 compiler=0 survivors='' stale=''
for name in $(wanted "$@"); do
    [ "$seconds" -eq 0 ] || [ $(($(date +%s) - start)) -lt "$seconds" ] || break
    line=$(awk -F '\t' -v name="$name" '!/^#/ && $1 == name' "$here/rules.tsv")
    if [ "$line" ]; then
        file=$(printf '%s\n' "$line" | cut -f 2)
        sed -E "$(printf '%s\n' "$line" | cut -f 3)" "$scratch/as_it_is/$file" >"$scratch/mutant"
        first=$(printf '%s\n' "$line" | cut -f 4)
    else
        file=broken.def first=elementwise
        awk -v want="$name" -f "$here/operations.awk" "$scratch/as_it_is/$file" >"$scratch/mutant"
    fi
    if cmp -s "$scratch/mutant" "$scratch/as_it_is/$file"; then
        echo "stale     $name: it changes nothing"
        stale="$stale $name"
        continue
    fi
    cp "$scratch/mutant" "$scratch/src/src/ad/$file"
    find_by "$first" >"$scratch/log" 2>&1
    cp "$scratch/as_it_is/$file" "$scratch/src/src/ad/$file"
    tried=$((tried + 1))
    if [ "$by" ]; then
        caught=$((caught + 1))
        echo "caught    $name: $by"
        [ "$by" != compiler ] || compiler=$((compiler + 1))
    else
        survivors="$survivors $name"
        echo "SURVIVED  $name"
    fi
done
echo "$caught of $tried caught, $compiler of them by the C compiler"
[ -z "$survivors" ] || printf 'survivors:\n%s\n' "$(printf '  %s\n' $survivors)"
[ -z "$stale" ] || printf 'out of date in tests/mutation/rules.tsv:\n%s\n' "$(printf '  %s\n' $stale)"
[ -z "$survivors$stale" ]
