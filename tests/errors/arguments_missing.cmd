. ./try.sh
try run calls.fsm dot </dev/null
try run calls.fsm dot 'x=[1]' </dev/null
try run calls.fsm dot 'x=[1]' 'z=[1]'
try run calls.fsm dot 'x=[1]' 'x=[1]'
try run calls.fsm points 'wt=[1]'
echo '{"x": [1], "why": [2]}' | try run calls.fsm dot
echo '{"x": [1]}' | try run calls.fsm dot
echo '[1, 2]' | try run calls.fsm square
echo '[]' | try run calls.fsm square
echo '[[1], [2], [3]]' | try run calls.fsm dot
echo '"x"' | try run calls.fsm square
echo '[[]]' | try run calls.fsm nothing x=1
