# Calls only where a guard holds: none, none, none, 1 + 3. Then loops: one for all of 6, two of 3, none. Rows: one loop of 3 for
# each of 2. Searches: one of 2 for each of 3.
fsmc cost guarded_work.fsm empty 'x=[1, 2]' s=0.5 'w=[1, 2, 3]'
fsmc cost guarded_work.fsm emptyAdjoint 'x=[1, 2]' s=0.5 'w=[1, 2, 3]' 'd=[[1, 2, 3], [4, 5, 6], [7, 8, 9]]'
fsmc cost guarded_work.fsm longer 'x=[1, 2]' s=0.5 'w=[1, 2, 3]'
fsmc cost guarded_work.fsm firstRow 'x=[1, 2, 3, 4]' 'w=[1, 2, 3]'
fsmc cost guarded_work.fsm togetherAdjoint 'x=[1, 2, 3]' s=0.5 m=6 'd=[1, 2, 3]'
fsmc cost guarded_work.fsm shiftedAdjoint 'x=[1, 2, 3]' s=0.5 'd=[1, 2, 3]'
fsmc cost guarded_work.fsm oneArm 'x=[1, 2, 3]' s=0.5 k=-1
fsmc cost guarded_work.fsm rowsGradient 'a=[[1,2,3],[4,5,6]]' 'b=[[0.1,0.2,0.3],[0.4,0.5,0.6]]' 't=[[0,1,0],[1,0,1]]' 'c=[0.5,0.25]' 'at=[1,0]'
fsmc cost guarded_work.fsm foundGradient 'x=[0.1,0.6,0.9]' 'grid=[0,0.25,0.5,0.75,1]' 'w=[1,2,3]' 'which=[1,0,1]' 'first=[1,1,-2]' 'y=[[1,2,3,4,5],[6,7,8,9,10]]'
