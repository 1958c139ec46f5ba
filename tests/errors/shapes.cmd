. ./try.sh
try run calls.fsm dot 'x=[1, 2]' 'y=[1, 2, 3]'
try run calls.fsm matvec 'm=[[1, 2], [3, 4]]' 'v=[1, 2, 3]'
try run calls.fsm matvec 'm=[[1, 2], [3]]' 'v=[1, 2]'
try run calls.fsm matvec 'm=[[1, 2], []]' 'v=[1, 2]'
try run calls.fsm fixed 'p=[1, 2]' flag=true
try run calls.fsm triangle d=3 'packed=[1, 2, 3]'
try run calls.fsm triangle d=-3 'packed=[1, 2]'
try run calls.fsm points 'a=[[1, [0, 1]], [2, [1]]]' 'w=[1, 2]'
try run calls.fsm points 'a=[[1, [0, 1]], [2, [1, 0]]]' 'w=[1]'
try run calls.fsm matvec 'm=[]' 'v=[]' c=-1
try run calls.fsm matvec 'm=[]' 'v=[]' c=2
try run calls.fsm dot 'x=[1]' 'y=[1]' n=2
