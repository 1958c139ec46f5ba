# No loop over the records is inside of another: the numbers of operations grow with records + steps (coarsening/moments).
for e in err derr w dw; do
    fsmc --emit=fsm --fp=fast --entry=$e co_descent.fsm
    for how in --interp --fp=fast; do
        fsmc run $how co_descent.fsm $e r=0.2 'x=[0.25, 1, 0.5, 0.75]' 'y=[0.5, 2.125, 1, 1.25]' steps=20 |
            awk '{ printf "%.9g\n", $0 }'
    done
done
