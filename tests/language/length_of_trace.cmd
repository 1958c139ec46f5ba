for how in --interp --exec -O0 -O2; do
    fsmc run $how length_of_trace.fsm counted 'counts=[1,2,1]'
    fsmc run $how length_of_trace.fsm counted 'counts=[1,-2]'
    fsmc run $how length_of_trace.fsm counted 'counts=[]'
    fsmc run $how length_of_trace.fsm nonzero 'x=[1,0,2,0,3]'
done 2>&1
