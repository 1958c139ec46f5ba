. ./engines.sh
check arrays.fsm dot 'x=[1, 2, 3]' 'y=[4, 5, 6]'
check arrays.fsm matvec 'm=[[1, 2, 3], [4, 5, 6]]' 'v=[1, 0, -1]'
check arrays.fsm matmul 'a=[[1, 2], [3, 4], [5, 6]]' 'b=[[1, 0, 2], [0, 1, 3]]'
check arrays.fsm transpose 'm=[[1, 2, 3], [4, 5, 6]]'
check arrays.fsm triangle d=3 'packed=[1, 2, 3, 4, 5, 6]'
check arrays.fsm convolve 'x=[1, 2, 3, 4]' 'w=[1, 10]'
