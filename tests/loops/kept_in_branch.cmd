# The trace is computed once in the branch, and not for each element that is read: as many iterations as without it.
for call in "plain w=1" "branch w=1 k=1" "branch w=1 k=3" "steps w=1"; do
    echo "$call $(fsmc cost kept_in_branch.fsm $call | sed 's/.*\("iterations": [0-9]*\).*/\1/')"
    for how in --interp -O2; do fsmc run $how kept_in_branch.fsm $call | sed 's/\(\.[0-9]\{9\}\).*/\1/'; done
done
