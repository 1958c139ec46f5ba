fsmc --emit=fsm -O0 fsm_traces.fsm -o $FSMC_TEST_TMP/emitted.fsm
for f in fsm_traces.fsm $FSMC_TEST_TMP/emitted.fsm; do
    fsmc run --interp $f grads 'x=[1,2,3]'
    fsmc run --interp $f pairs 'x=[1,2]'
done
