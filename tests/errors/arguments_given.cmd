# All the ways to give arguments that are right.
. ./try.sh
echo '[[1, 2], [3, 4]]' | try run calls.fsm dot
echo '{"y": [1, 2], "x": [3, 4]}' | try run calls.fsm dot
echo '[[3, 4]]' | try run calls.fsm dot 'x=[1, 2]'
echo '[[0, 0], [3, 4]]' | try run calls.fsm dot 'x=[1, 2]'
echo '{"x": [0, 0], "y": [3, 4]}' | try run calls.fsm dot 'x=[1, 2]'
echo '[1e1, 20.5]' >"$FSMC_TEST_TMP/x.json"
try run calls.fsm dot "x=@$FSMC_TEST_TMP/x.json" 'y=[1, 2]'
try run calls.fsm square x=.5
try run calls.fsm square x=+3
try run calls.fsm square x=-1e2
try run calls.fsm triangle d=2.0 'packed=[1, 2, 3]'
try run --interp calls.fsm square x=Infinity
try run calls.fsm large n=9007199254740993
try run calls.fsm nothing
