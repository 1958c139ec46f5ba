# By need, a state that fails raises nothing where it is not needed, in derivatives neither. (Compiled code computes the starts of
# loops as a whole.)
for entry in branch index factor place; do fsmc run --interp overwritten.fsm $entry 'x=[1,2,3]' 'is=[1]' 2>&1; done
