fsmc --emit=loops --fp=fast split.fsm | grep -E "^loops| for | new |\[.*\] = | if "
fsmc --explain=schedule --fp=fast --emit=loops -o /dev/null split.fsm 2>&1 | grep 'of its own'
for how in --interp '-O2 --fp=precise' '-O2 --fp=fast'; do
    fsmc run $how split.fsm checked 'w=[[1],[2],[3],[4]]' 'x=[2]' 'at=[0,0,7,9]' 2>&1
done
