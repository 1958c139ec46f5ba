for x in -2 0.5 100; do
    for e in value slope tangent; do
        printf '%s %s: ' $x $e && fsmc run co_branches.fsm $e p=0.1 q=1.5 x=$x
    done
done
for e in value slope tangent; do fsmc --emit=fsm --fp=fast --entry=$e co_branches.fsm; done
