. ./try.sh
try run calls.fsm square 'x=[1, 2'
try run calls.fsm square 'x='
try run calls.fsm square 'x=1 2'
try run calls.fsm square 'x=one'
try run calls.fsm square 'x=1e999'
try run calls.fsm square 'x=@missing.json'
printf '[1,\n 2,,]' | try run calls.fsm square
printf '{"x": 1, "x": 2}' | try run calls.fsm square
printf '[1, 2' | try run calls.fsm square
printf '["\377"]' | try run calls.fsm square | head -n 2 | tail -n 1
printf '[1\0]' | try run calls.fsm square
printf '[99999999999999999999]' | try run calls.fsm square
printf '[99999999999999999999, []]' | try run calls.fsm triangle
printf '[-1e400]' | try run calls.fsm square
repeat '[' 100000 | try run calls.fsm square | grep -v '\[\['
