# Usual and unusual arguments: in all engines the same values, and errors.
calls() { entry=$1 && shift && for c in "$@"; do echo "$entry {$c}"; done; }
big=4611686018427387904
{
    calls of_trace '"m": [[1, 2], [3, 4]]' '"m": [[1, 2, 3], [3, 4, 5]]' '"m": [[1], [3]]' '"m": []'
    calls squares '"a": [[1, 2]], "b": [[3, 4]]' '"a": [[1, 2]], "b": [[3, 4, 5]]' '"a": [[1, 2]], "b": [[3, 4], [5, 6]]'
    calls asserted '"a": [[1, 2]], "b": [[3], [4]]' '"a": [[1, 2]], "b": [[3]]' '"a": [], "b": []'
    calls least '"x": [1, 2, 3], "y": [2]' '"x": [1, 2, 3], "y": [2, 3]' '"x": [1, 2, 3], "y": []'
    calls contradicted '"x": [1, 2]' '"x": [1, 2, 3]' '"x": [1, 2, 3, 4, 5]' '"x": [1]'
    image='"x": [[[1, 2], [3, 4], [5, 6]]]'
    calls pooled '"d": [[2], [3]], '"$image" '"d": [[2, 1]], '"$image" '"d": [[2]], "x": [[[1, 2]]]' '"d": [[], []], "x": [[[1, 2]]]'
    for h in 0 1 2 3 4 6 -2 $big; do calls of_heads '"q": [[1, 2, 3, 4]], "v": [1, 2, 3, 4], "heads": '$h; done
    for h in 0 1 2 3 -1 $big -$big 3074457345618258603; do calls gates '"z": [[1, 2, 3, 4]], "h": '$h; done
    for k in 0 1 2 3 4 -1 $big; do for d in 0 1 2 -1 -$big; do calls shifted '"x": [1, 2, 3], "k": '$k', "d": '$d; done; done
    for k in 0 1 2 3 4 5 -2; do calls parts '"x": [1, 2, 3, 4], "k": '$k; done
    for entry in slowed turned; do for s in 0 1 2 3 -1 $big; do calls $entry '"x": [1, 2, 3], "s": '$s; done; done
    for k in 0 2 -1; do for s in 0 2; do calls stepped '"x": [1, 2, 3], "k": '$k', "s": '$s; done; done
    least=-9223372036854775808
    for k in 0 1 2 3 4 $big -$big $least -9223372036854775807; do calls before '"x": [1, 2, 3], "k": '$k; done
    for k in 0 2 3 4 -1; do calls last '"x": [1, 2, 3], "k": '$k; done
    for a in 0 2 -1 $big; do for b in 0 1 3 4 -$big; do calls between '"x": [1, 2, 3], "a": '$a', "b": '$b; done; done
} >"$FSMC_TEST_TMP/list"
for how in --interp -O0 '-O2 --fp=fast' --exec '--exec --lanes=4'; do
    cut -d' ' -f1 "$FSMC_TEST_TMP/list" | uniq | while read -r entry; do
        sed -n "s/^$entry //p" "$FSMC_TEST_TMP/list" >"$FSMC_TEST_TMP/calls"
        echo "$entry"
        fsmc run $how ../ad/assumed.fsm "$entry" --calls="$FSMC_TEST_TMP/calls" 2>&1 |
            sed -E 's/.*(calls:[0-9]*):.*/\1/; /^ /d; s/([0-9]\.[0-9]{6})[0-9]*/\1/g'
    done >"$FSMC_TEST_TMP/got"
    if [ "$how" = --interp ]; then cat "$FSMC_TEST_TMP/got"; mv "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/want"; else diff "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/want"; fi
done
# At twice the size: as much more work as the value's, and not more.
matrix() { awk -v n="$1" 'BEGIN { for (i = 0; i < n * n; i++) printf "%s%g", i % n ? ", " : i ? "], [" : "[[", 1 + i % 7; print "]]" }'; }
vector() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%s%g", i ? ", " : "[", 1 + i % 7; print "]" }'; }
for n in 16 32; do
    fsmc cost ../ad/assumed.fsm of_trace m="$(matrix $n)"
    fsmc cost ../ad/assumed.fsm of_product m="$(matrix $n)" u="$(vector $n)" v="$(vector $n)"
    fsmc cost assumed.fsm grad_pooled x="[$(matrix $n)]" d="[$(vector $((n * n / 4)))]"
    fsmc cost assumed.fsm grad_heads q="$(matrix $n)" v="$(vector $n)" heads=4
    fsmc cost assumed.fsm grad_parts x="$(vector $n)" k=4
    fsmc cost assumed.fsm grad_gates z="$(matrix $n)" h=5
    fsmc cost assumed.fsm grad_stepped x="$(vector $n)" k=10 s=2
done
