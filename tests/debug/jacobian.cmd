# Which mode `jacobian` takes, by the numbers of elements as polynomials; the numbers do not depend on it.
fsmc check --explain=derivatives jacobian.fsm
fsmc run jacobian.fsm half 'y=[1,2]' 'x=[1,2,3,4]'
fsmc run jacobian.fsm twice 'x=[1,2]'
fsmc run jacobian.fsm unknown 'x=[1,2]' 'y=[1,2,3]'
fsmc run jacobian.fsm minus 'x=[1]'
fsmc run jacobian.fsm wide 'x=[]'
