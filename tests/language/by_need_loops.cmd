# Every entry, by the interpreter; other engines must give the same, --debug-nan finds nothing.
for x in 0 -1 2; do
    for entry in $(sed -n 's/^entry \([A-Za-z0-9_]*\) .*/\1/p' by_need_loops.fsm); do
        want=$(fsmc run --interp --debug-nan by_need_loops.fsm $entry x=$x n=2 2>&1)
        echo "$entry $x: $want"
        case $want in *error*) continue ;; esac
        for how in --fp=precise --exec; do
            got=$(fsmc run $how by_need_loops.fsm $entry x=$x n=2 2>&1)
            [ "$got" = "$want" ] || echo "    $how: $got"
        done
    done
done
