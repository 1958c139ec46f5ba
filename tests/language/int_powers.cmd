for k in 0 1 2 13 62 63 64 4000000000000000000 9223372036854775807 -1; do echo "{\"a\": 3, \"k\": $k}"; done >"$FSMC_TEST_TMP/calls"
for a in 0 -1 -2 4611686018427387904; do for k in 0 1 2 63; do echo "{\"a\": $a, \"k\": $k}"; done; done >>"$FSMC_TEST_TMP/calls"
for how in --interp -O0 -O1 -O2 -O3 '--exec --lanes=8'; do
    {
        fsmc run $how int_powers.fsm power --calls="$FSMC_TEST_TMP/calls" 2>&1 | sed "s|$FSMC_TEST_TMP/||g"
        fsmc run $how int_powers.fsm several a=[1,2,3,4,-5,0] k=[5,4,3,31,1,0]
        fsmc run $how int_powers.fsm weighted x=[1,2,3] k=3
    } >"$FSMC_TEST_TMP/got"
    if [ "$how" = --interp ]; then tee "$FSMC_TEST_TMP/want" <"$FSMC_TEST_TMP/got"; else diff "$FSMC_TEST_TMP/got" "$FSMC_TEST_TMP/want"; fi
done
