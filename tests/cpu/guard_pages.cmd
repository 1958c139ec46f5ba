# Programs whose code is close to the ends of arrays, with all arrays at pages that cannot be touched, for each level of x86-64 that
# this processor has.
[ "$(uname -m)" = x86_64 ] || { echo "this is not x86-64"; exit 77; }
"$FSMC_BUILD"/tests/ad_programs -C each edges.fsm chosen_loads.fsm >"$FSMC_TEST_TMP/all"
echo "exit $?"
grep -v '^ok\|^# the dearest' "$FSMC_TEST_TMP/all"
grep -q '^ok edges on x86-64-v' "$FSMC_TEST_TMP/all" || echo "nothing was run"
