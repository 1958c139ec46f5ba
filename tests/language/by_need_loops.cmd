# Every entry, by the interpreter; other engines must give the same, --debug-nan finds nothing.
entries=$(sed -n 's/^entry \([A-Za-z0-9_]*\) .*/\1/p' by_need_loops.fsm)
for x in 0 -1 2; do
    for entry in $entries; do
        want=$(fsmc run --interp --debug-nan by_need_loops.fsm $entry x=$x n=2 2>&1)
        echo "$entry $x: $want"
        case $want in *error*) continue ;; esac
        echo "{\"x\": $x, \"n\": 2}" >>"$FSMC_TEST_TMP/$entry.calls"
        echo "$want" >>"$FSMC_TEST_TMP/$entry.want"
    done
done
for entry in $entries; do
    for how in --fp=precise --exec; do
        fsmc run $how by_need_loops.fsm $entry --calls="$FSMC_TEST_TMP/$entry.calls" 2>&1 | diff "$FSMC_TEST_TMP/$entry.want" - || echo "$entry $how"
    done
done
