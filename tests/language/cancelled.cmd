# The same errors in all engines.
calls() {
    for entry in $(sed -n 's/^entry \([a-z_]*\) .*/\1/p' cancelled.fsm); do
        for k in 1 7; do printf '%s ' "$entry" && fsmc run "$@" cancelled.fsm $entry 'x=[4,5]' k=$k 2>&1 | sed 's/^fsmc: error: //'; done
    done
}
calls --interp | tee "$FSMC_TEST_TMP/want"
for how in -O0 -O2 --fp=precise '-O3 --fp=fast' --exec '-O1 --fuel=0'; do
    calls $how | diff "$FSMC_TEST_TMP/want" - >"$FSMC_TEST_TMP/diff" || { echo "$how:"; cat "$FSMC_TEST_TMP/diff"; }
done
