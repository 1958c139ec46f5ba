. ./engines.sh
check arrays.fsm grid n=2
check arrays.fsm kinds 'a=[1, 2]' 'b=[true, false]' 'c=[0.5, 0.25]'
check arrays.fsm literal i=2
check arrays.fsm slice 'x=[1, 2, 3, 4]'
check arrays.fsm lengths 'm=[[1, 2, 3], [4, 5, 6]]'
