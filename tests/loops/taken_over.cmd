for how in --interp -O0 -O2 '-O2 --fp=fast'; do
    fsmc run $how taken_over.fsm gradient 'x=[]' 'y=[1,2,3]' 'w=[[1],[2],[3]]'
    fsmc run $how taken_over.fsm gradient 'x=[1]' 'y=[1,2,3]' 'w=[[1,4],[2,5],[3,6]]'
done
