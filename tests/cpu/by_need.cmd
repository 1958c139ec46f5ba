# What is not needed raises nothing.
. ./engines.sh
check failures.fsm guarded 'x=[1, 2]' k=5
check failures.fsm guarded 'x=[1, 2]' k=1
check failures.fsm unused 'x=[1, 2]' k=7
check failures.fsm checked x=1
fails failures.fsm checked x=-1
