# --fp=precise computes what is written, to the last bit.
for x in 0.7 0.3 1e-300; do
    for how in --interp --fp=precise '--exec --fp=precise'; do
        fsmc run $how precise.fsm products x=$x
        fsmc run $how precise.fsm sums x=$x n=7
    done
done
for how in --interp -O0 -O2; do
    fsmc run $how precise.fsm tiny x=0
done
for how in --interp --fp=precise -O2; do
    fsmc run $how precise.fsm sign x=1 y=2 z=4
done
