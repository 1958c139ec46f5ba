# Each call fails, or does not, in every engine.
for k in 0 1 2 3; do for f in 0 1 2 3 4 5; do echo "grads {\"x\": [1, 2, 3], \"t\": [1, 2, 5], \"k\": $k, \"f\": $f}"; done; done >"$FSMC_TEST_TMP/list"
sed -n 's/^entry \([a-zA-Z]*\) (x: Double.n.) (k: Int) .*/\1/p' failing.fsm | while read -r entry; do
    for k in 0 1 2 3; do echo "$entry {\"x\": [1, 2, 3], \"k\": $k}"; done
    echo "$entry {\"x\": [], \"k\": 1}"
done >>"$FSMC_TEST_TMP/list"
for x in '[]' '[1, 3]'; do echo "none {\"x\": $x}"; done >>"$FSMC_TEST_TMP/list"
for how in --interp -O0 '-O2 --fp=fast' '-O3 --threads=2' '--exec --lanes=8'; do
    cut -d' ' -f1 "$FSMC_TEST_TMP/list" | uniq | while read -r entry; do
        sed -n "s/^$entry //p" "$FSMC_TEST_TMP/list" >"$FSMC_TEST_TMP/calls"
        echo "$entry"
        fsmc run $how failing.fsm "$entry" --calls="$FSMC_TEST_TMP/calls" 2>&1 | sed "s|$FSMC_TEST_TMP/||g"
    done >"$FSMC_TEST_TMP/got"
    sed "s/error: .*/error/" "$FSMC_TEST_TMP/got" >"$FSMC_TEST_TMP/which" # of several errors it is not said which
    if [ "$how" = --interp ]; then cat "$FSMC_TEST_TMP/got"; mv "$FSMC_TEST_TMP/which" "$FSMC_TEST_TMP/want"; else diff "$FSMC_TEST_TMP/which" "$FSMC_TEST_TMP/want"; fi
done
