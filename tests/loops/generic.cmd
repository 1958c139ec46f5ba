fsmc --fp=fast --lanes=4 --emit=loops -o - generic.fsm | awk '/^loops/ { on = !/otherwise/ } on' | grep -E '^loops|for |if |\?'
for x in '[0,0,0]' '[3,0,4]'; do
    for how in --interp '--fp=fast --lanes=4'; do fsmc run $how generic.fsm scaled "x=$x" 'dy=[1,2,3]' | sed -E 's/(\.[0-9]{12})[0-9]*/\1/g'; done
done
fsmc run --fp=fast generic.fsm asked c=0 'x=[1,2]' 'y=["Infinity",1]'
