for how in '' --interp; do fsmc run $how attributes.fsm f x=2 'v=[1,2,3]'; fsmc run $how attributes.fsm g 'v=[1,2]'; done
fsmc check attributes.fsm
