. ./engines.sh
check scalars.fsm maths x=0.75
check scalars.fsm maths2 x=0.75 y=-1
check scalars.fsm special x=2.5
check scalars.fsm branch x=2
check scalars.fsm branch x=0
check scalars.fsm branch x=-3
check scalars.fsm extremes x=-1.5 y=2
