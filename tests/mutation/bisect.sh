#!/bin/sh
# Plants faults in the compiler's passes, one at a time, and looks whether `fsmc bisect` names the pass (tests/README.md).
# usage: tests/mutation/bisect.sh [NAME...]: faults whose names contain one of the words. The last line is "N found, N not".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
here=$root/tests/mutation
scratch=$root/build-bisect
mkdir -p "$scratch/src" && (cd "$root" && git ls-files -z | tar cf - --null -T -) | tar xf - -C "$scratch/src" || exit 1
cmake -S "$scratch/src" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$scratch/log" || exit 1
make() { ninja -C "$scratch/build" fsmc >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }; }
wanted() {
    awk -F '\t' -v words="$*" 'BEGIN { n = split(words, w, " ") } /^#/ { next }
        { some = n == 0; for (i = 1; i <= n; i++) some = some || index($1, w[i]); if (some) print }' "$here/passes.tsv"
}

make
found=0 missed=0
tab=$(printf '\t')
wanted "$@" >"$scratch/faults"
while IFS=$tab read -r name file change call step; do
    sed -i.right "$change" "$scratch/src/$file"
    if cmp -s "$scratch/src/$file" "$scratch/src/$file.right"; then
        echo "$name: nothing changes in $file"
        missed=$((missed + 1))
        continue
    fi
    make
    begin=$(date +%s)
    # shellcheck disable=SC2086 # words
    "$scratch/build/fsmc" bisect "$here/planted.fsm" $call >"$scratch/out" 2>&1
    case $(grep '^step' "$scratch/out") in
    *": $step"*) found=$((found + 1)) how=found ;;
    *) missed=$((missed + 1)) how='not found' ;;
    esac
    echo "$name: $how in $(($(date +%s) - begin)) s: $(grep -m 1 '^step' "$scratch/out" || tail -n 1 "$scratch/out")"
    mv "$scratch/src/$file.right" "$scratch/src/$file" && touch "$scratch/src/$file"
done <"$scratch/faults"
echo "$found found, $missed not"
[ "$missed" -eq 0 ]
