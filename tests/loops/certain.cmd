# 16 calls of sin where the waves are needed in any case; else as many for each element that needs them.
x='x=[1,-1,-1,-1,20,-1,-1,-1]'
for e in always places where first; do
    echo "$e $(fsmc cost certain.fsm $e "$x" 'at=[1,0,1,1]' | sed 's/.*\("call": [0-9]*\).*/\1/')"
done
fsmc cost certain.fsm rows 't=[1,2,3]' 'is=[1,0,1,1,2,0,1,0]' | sed 's/.*\("call": [0-9]*\).*/rows \1/'
# An error only where the value is needed.
for e in always places where first; do
    for how in --interp -O2; do fsmc run $how certain.fsm $e 'x=[-1,-2,-1,-1,-1,-1,-1,-1]' 'at=[8,0]' 2>&1; done
    [ $e = always ] || fsmc run certain.fsm $e 'x=[]' 'at=[7]' 2>&1
done
fsmc run certain.fsm always "$x" 'at=[]'
