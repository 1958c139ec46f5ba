# By hand, with W H = [[4, 8], [6, 12]], A = [[4, 8], [6, 6]]: log (4 * 8 * 6 * 12) + 3.5, and only the last element
# has a derivative, 3 * (1/12 - 6/144) = 0.125.
fsmc run nnmf.fsm value A=[[4,8],[6,6]] W=[[2],[3]] H=[[2,4]]
awk 'BEGIN { printf "%.15g\n", log(4 * 8 * 6 * 12) + 3.5 }'
fsmc run nnmf.fsm byH A=[[4,8],[6,6]] W=[[2],[3]] H=[[2,4]]
fsmc run nnmf.fsm byH A=[[1,2,3],[3,2,1]] W=[[1,2],[3,1]] H=[[1,2,1],[2,1,3]]
