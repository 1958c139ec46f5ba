fsmc --emit=loops --fp=fast split.fsm | grep -E "^loops| for | new |\[.*\] = | if "
fsmc --explain=schedule --fp=fast --emit=loops -o /dev/null split.fsm 2>&1 | grep 'of its own'
# Rows of up to 64 elements, and longer ones, by functions and by a sum over all of them.
for m in 3 64 65 150; do
    args=$(awk -v m=$m 'BEGIN { n = 70; printf "{\"w\":["; for (i = 0; i < n; i++) { printf "%s[", i ? "," : ""; for (j = 0; j < m; j++) printf "%s%g", j ? "," : "", (i * 5 + j * 3) % 17 / 40; printf "]" }
        printf "],\"x\":["; for (j = 0; j < m; j++) printf "%s%g", j ? "," : "", (j % 7) / 20; printf "],\"b\":["; for (i = 0; i < n; i++) printf "%s%g", i ? "," : "", 1 + i % 3; printf "],\"k\":1}" }')
    for e in loss branches; do
        for how in --interp -O2+--fp=precise -O2+--fp=fast -O2+--fp=fast+--threads=3; do
            echo "$args" | sed "s/$([ $e = loss ] && echo ',"k":1' || echo ',"b":\[[^]]*\]')//" | fsmc run $(echo $how | tr + ' ') split.fsm $e | tr -d '[] ' | tr ',' '\n' >"$FSMC_TEST_TMP/got"
            [ $how = --interp ] && cp "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/expected"
            paste "$FSMC_TEST_TMP/expected" "$FSMC_TEST_TMP/got" | awk -v e=$e -v m=$m -v how=$how '{ d = $1 - $2; n++; if (!(d <= 1e-11 * $1 && -d <= 1e-11 * $1)) bad++ } END { if (bad || !n) print e, m, how, bad, "differ" }'
        done
    done
done
for how in --interp '-O2 --fp=precise' '-O2 --fp=fast'; do
    fsmc run $how split.fsm checked 'w=[[1],[2],[3],[4]]' 'x=[2]' 'at=[0,0,7,9]' 2>&1
done
