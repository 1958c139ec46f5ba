fsmc --emit=loops --fp=fast merge.fsm | grep -E "^loops| for | new |\[.*\] = | if "
x='x=[0.5,1.5,-2]'
run() {
    echo "$1"
    for how in --interp '-O2 --fp=precise' '-O2 --fp=fast'; do fsmc run $how merge.fsm "$@" 2>&1 | sed -E 's/(\.[0-9]{12})[0-9]*/\1/g'; done
}
run chain "$x" 'm=[1,2,3]'
run neighbours "$x"
run rows "$x" 'w=[[1,2,3],[4,5,6],[7,8,9],[10,11,12]]' steps=2
run checked "$x" 'at=[2,0,1]'
run checked "$x" 'at=[2,3,1]'
