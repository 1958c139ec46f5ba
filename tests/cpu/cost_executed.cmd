# What runs: an array is made whole; what two results share is computed once.
fsmc cost cost_executed.fsm element x=0.5 n=40 k=3
fsmc cost cost_executed.fsm indexed 'v=[1, 2, 3, 4, 5]' steps=12
fsmc cost cost_executed.fsm shared 'x=[1, 2, 3]'
# Whole arrays, and additions to elements.
fsmc cost cost_executed.fsm filled n=3 m=5
fsmc cost cost_executed.fsm copied 'x=[1, 2, 3]'
fsmc cost cost_executed.fsm joined 'x=[1, 2]' 'y=[3, 4]'
fsmc cost cost_executed.fsm counted 'is=[1, 2, 2]' m=4
fsmc cost cost_executed.fsm weighed 'is=[1, 2, 2]' 'w=[1, 2, 3]' m=4
# Three additions and a division for each test of the condition.
fsmc cost cost_executed.fsm root x=2
# Another version runs for no elements.
fsmc cost cost_executed.fsm first 'x=[]'
fsmc cost cost_executed.fsm first 'x=[1, 2, 3]'
# Nothing is counted of what fails.
fsmc cost cost_executed.fsm failing 'x=[1, 2]' 'is=[0, 1, 0]'
fsmc cost cost_executed.fsm failing 'x=[1, 2]' 'is=[0, 1, 5, 0]'
fsmc cost --exec cost_executed.fsm element x=0.5 n=40 k=3
