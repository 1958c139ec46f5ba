# Elements that are indices, and others: in all engines the same values, and errors.
calls() { entry=$1 && shift && for c in "$@"; do echo "$entry {$c}"; done; }
big=9223372036854775807
{
    x='"x": [1, 2, 3, 4, 5, 6, 7, 8]'
    for e in picked reversed narrowed; do
        for k in '[0, 7, 3]' '[0, 8, 3]' '[-1, 2]' '[2147483647]' '[0, -2147483648]' '[]'; do calls $e "$x, \"k\": $k"; done
    done
    for k in "[$big]" "[0, -$big]"; do calls picked "$x, \"k\": $k"; done
    for k in '[0, 3]' '[0, 4]' '[-1]' '[4611686018427387904]' '[]'; do calls strided "$x, \"k\": $k"; done
    for k in '[1, 8]' '[0, 8]' '[9]' '[-9223372036854775808]'; do calls from_one "$x, \"k\": $k"; done
    xy='"x": [[1, 2], [3, 4], [5, 6]]'
    for k in '[[0, 2], [1, 0]]' '[[0, 3]]' '[[3, 0]]' '[[1, -1]]' '[]'; do calls pairs "$xy, \"k\": $k"; done
    for k in '[2]' '[0, 9, 2]' '[0, 9, 9]' '[3]' '[]'; do calls single "$x, \"k\": $k"; done
    for k in '[0, 2]' '[3]' '[-1]'; do calls rows "$xy, \"k\": $k"; done
    for w in 0 1 3 8 -1 $big; do for k in '[0, 1]' '[2]' '[-1]'; do calls flat "$x, \"w\": $w, \"k\": $k"; done; done
    for k in '[0, 5]' '[6]' '[-1]' '[-3]'; do calls split "$xy, \"k\": $k"; done
    for k in '[[0, 7], [1, 2]]' '[[0, 8]]' '[[], []]'; do calls all_of "$x, \"k\": $k"; done
    for k in '[[[7, 99], [5, 6], [99, 99]]]' '[[[7, 99], [5, 8], [99, 99]]]' '[[[8, 0], [0, 0], [0, 0]]]'; do
        calls middle "$x, \"k\": $k"
    done
    square='"x": [[1, 2], [3, 4]]'
    for k in '[0, 1, 1]' '[0]' '[0, 2, 0]' '[2, 0]' '[]' '[0, 1, -1]'; do calls steps "$square, \"k\": $k"; done
    for k in '[0, -1, 7]' '[0, 8]'; do calls chosen "$x, \"k\": $k"; done
    for l in 0 1 3; do calls some_of "$x, \"k\": [0, 9, 2], \"l\": $l"; done
    for k in '[0, 99, 7, 99, 99]' '[0, 0, 8, 0]'; do calls every_other "$x, \"k\": $k"; done
    for e in begins ends from_second; do
        for k in '[0, 1, 2]' '[0, 1, 99]' '[99, 1, 2]' '[]'; do calls $e "$x, \"k\": $k"; done
    done
    for k in '[[0, 99], [99, 1]]' '[[2, 0], [0, 0]]'; do calls triangle "\"x\": [1, 2], \"k\": $k"; done
    for k in '[0, 1, 9]' '[0, 0]'; do calls beside "$x, \"k\": $k"; done
    for k in '[0, 2, 2, 8]' '[0, 2, 1]' '[3, 9]' '[-1, 2]' '[5]' '[]'; do calls of_ends "$x, \"begins\": $k"; done
    for l in '[1, 0]' '[2]' '[3]' '[-1]'; do calls through "$x, \"k\": [0, 7, 8], \"l\": $l"; done
} >"$FSMC_TEST_TMP/list"
for how in --interp -O0 '-O2 --fp=fast' --exec '--exec --lanes=4'; do
    cut -d' ' -f1 "$FSMC_TEST_TMP/list" | uniq | while read -r entry; do
        sed -n "s/^$entry //p" "$FSMC_TEST_TMP/list" >"$FSMC_TEST_TMP/calls"
        echo "$entry"
        fsmc run $how ../ad/elements.fsm "$entry" --calls="$FSMC_TEST_TMP/calls" 2>&1 |
            sed -E 's/.*(calls:[0-9]*):.*/\1/; /^ /d; s/([0-9]\.[0-9]{6})[0-9]*/\1/g'
    done >"$FSMC_TEST_TMP/got"
    if [ "$how" = --interp ]; then cat "$FSMC_TEST_TMP/got"; mv "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/want"; else diff "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/want"; fi
done
# What is assumed.
fsmc --emit=loops -o - ../ad/elements.fsm | sed -n 's/^loops \([a-z_]*\).* for /\1: /; s/ {$//p' | grep '^[a-z_]*: '
# At twice the size four times the work for each step, and no more.
matrix() { awk -v n="$1" 'BEGIN { for (i = 0; i < n * n; i++) printf "%s%g", i % n ? ", " : i ? "], [" : "[[", 1 + i % 7; print "]]" }'; }
for n in 8 16 32; do fsmc cost elements.fsm grad_steps x="$(matrix $n)" k='[0, 1, 2, 3, 4, 5]'; done
