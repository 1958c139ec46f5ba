# Numbers that JSON does not have are strings, in and out.
. ./engines.sh
check scalars.fsm arithmetic 'x="Infinity"' y=1
check scalars.fsm arithmetic x=-Infinity 'y="NaN"'
check scalars.fsm extremes x=NaN y=1
check scalars.fsm maths x=-1
echo '{"x": "NaN", "y": "-Infinity"}' | fsmc run scalars.fsm arithmetic
echo '["nan", 1]' | fsmc run scalars.fsm arithmetic
