. ./engines.sh
for entry in by_input by_both; do
    check convolved.fsm $entry 'k=[1, 2, 3]' 'x=[0.1, 0.2, 0.3, 0.1, 0.2]'
    check convolved.fsm $entry 'k=[]' 'x=[0.1, 0.2]'
    check convolved.fsm $entry 'k=[1, 2, 3]' 'x=[0.1]'
    fsmc cost convolved.fsm $entry 'k=[1, 2, 3]' 'x=[0.1, 0.2, 0.3, 0.1, 0.2]'
done
