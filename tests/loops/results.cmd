# How often functions are called, of five elements, and that results are those of the program as written.
x=x=[1,0.2,0.3,0.4,0.5]
for e in $(sed -n 's/^entry \([a-z]*\) (x: Double\[n\]) =.*/\1/p' results.fsm); do
    for how in -O0 -O2; do echo "$e $how: $(fsmc cost $how results.fsm $e $x | tr -d '\n' | sed 's/.*"call": \([0-9]*\).*/\1/')"; done
    fsmc run --interp results.fsm $e $x >"$FSMC_TEST_TMP/want"
    for how in -O0 '--exec -O2 --lanes=0' '--exec -O0'; do fsmc run --fp=precise $how results.fsm $e $x | diff "$FSMC_TEST_TMP/want" -; done
done
for k in 0 1; do for how in --interp -O0 -O2 --exec; do fsmc run --fp=precise $how results.fsm checked x=[0,1] k=$k; done; done 2>&1 | sed 's/-0.0/0.0/' | uniq -c
