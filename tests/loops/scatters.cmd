# 6 iterations that find the place and add to both arrays, 3 in each of them; those of the results.
fsmc cost scatters.fsm means 'x=[1,2,3,4,5,6]' 'y=[[1,2],[2,3],[3,4],[4,5],[5,6],[6,7]]' 'c=[2,4,6]'
