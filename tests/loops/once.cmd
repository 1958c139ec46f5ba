# Calls: 36 (6 sines and 6 cosines for each of 3), 6, 2, 4 + 12, 3 + 3.
fsmc cost once.fsm both 'x=[1, 2, 3]' c=0.5
fsmc cost once.fsm restarted 'x=[1, 2, 3]' 'y=[1, 2]'
fsmc cost once.fsm binned 'y=[1, 2, 3]' 'x=[1, 2, 3, 4]' 'is=[5, 0, 7, 0]'
fsmc cost once.fsm repeated 'y=[1, 2, 3]' 'x=[1, 2, 3, 4]'
fsmc cost once.fsm results 'x=[1, 2, 3]'
