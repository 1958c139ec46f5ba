# One array for the small state's next value; the large one gets its new row in place.
fsmc --emit=loops states_in_turn.fsm
for how in --interp -O2; do fsmc run $how states_in_turn.fsm states params='[[[0.5,1.0],[0.25,2.0]],[[1.0,1.0],[3.0,0.5]]]' x='[0.1,0.2]'; done |
    sed -E 's/([0-9]\.[0-9]{12})[0-9]*/\1/g' # the last digits depend on the machine
