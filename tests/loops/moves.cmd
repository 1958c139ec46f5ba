for e in panels8 laned lanedFloat; do
    fsmc --emit=loops --fp=fast --target-cpu=x86-64-v4 --entry=$e moves.fsm -o - | awk '/^loops .* otherwise/ { exit } /new |rows for/' | sed 's/[0-9]//g'
done
same() {
    fsmc run --interp moves.fsm "$@" >"$FSMC_TEST_TMP/expected"
    for how in -O0 -O2 -O2+--fp=precise -O2+--fp=fast -O2+--fp=fast+--target-cpu=native+--threads=3; do
        fsmc run $(echo $how | tr + ' ') moves.fsm "$@" >"$FSMC_TEST_TMP/got"
        tr -d '[] ' <"$FSMC_TEST_TMP/expected" | tr ',' '\n' >"$FSMC_TEST_TMP/numbers"
        tr -d '[] ' <"$FSMC_TEST_TMP/got" | tr ',' '\n' | paste "$FSMC_TEST_TMP/numbers" - | awk -v how=$how '{ d = $1 - $2; if (d < 0) d = -d; if (!(d <= 1e-5 * (1 + ($1 < 0 ? -$1 : $1)))) bad++ } END { if (bad) print how, bad, "differ" }'
    done
    wc -l <"$FSMC_TEST_TMP/numbers"
}
for n in 7 21 40; do
    a=$(awk -v n=$n 'BEGIN { printf "["; for (i = 0; i < n; i++) { printf "%s[", i ? "," : ""; for (j = 0; j < n; j++) printf "%s%g", j ? "," : "", (i * 7 + j * 3) % 11 / 10; printf "]" } print "]" }')
    for e in panels8 panels13 beside laned lanedFloat; do same $e "a=$a"; done
done
