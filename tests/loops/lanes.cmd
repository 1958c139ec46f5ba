fsmc --emit=loops -o - lanes.fsm | grep -E '^loops|for ' | grep -v otherwise
fsmc --explain=schedule --emit=loops -o /dev/null lanes.fsm 2>&1 | sed "s/about.*without/about A with lanes, B without/"
fsmc --emit=loops --entry=gates -o - lanes.fsm | grep -E -A2 'rows for'
xs='xs=[[[1,2,3],[4,5,6],[7,8,9],[1,0,1],[2,1,2]],[[3,2,1],[6,5,4],[9,8,7],[0,1,0],[1,1,5]]]'
for how in --interp '-O2 --fp=precise' '-O2 --fp=fast'; do
    fsmc run $how lanes.fsm gates "$xs" 'w=[[0.01,0.02,0.03],[0.03,0.02,0.01]]' | sed -E 's/(\.[0-9]{12})[0-9]*/\1/g'
done
