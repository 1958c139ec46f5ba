. ./engines.sh
check tuples.fsm swap 'p=[1.5, 2]'
check tuples.fsm points 'a=[[1, 2], [3, 4], [5, 6]]'
check tuples.fsm nested 'a=[[[1, [2, 3]], true], [[4, [5, 6]], false]]'
check tuples.fsm nested 'a=[]'
check tuples.fsm rows 'a=[[[1, 2], 10], [[3, 4], 100]]'
