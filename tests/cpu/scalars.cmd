. ./engines.sh
check scalars.fsm arithmetic x=1.5 y=-0.25
check scalars.fsm integers a=17 b=-5
check scalars.fsm integers a=-9223372036854775808 b=3
check scalars.fsm compare a=3 x=0.5
check scalars.fsm single x=0.1 y=3
check scalars.fsm convert i=9007199254740993 x=-2.75
