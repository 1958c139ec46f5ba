for e in total slope; do
    fsmc --emit=fsm --entry=$e co_loop.fsm
    for k in 5 0 -1; do fsmc run co_loop.fsm $e a=1 x=0.25 k=$k; done
done
