. ./engines.sh
check loops.fsm power x=1.5 n=4
check loops.fsm power x=1.5 n=0
check loops.fsm fibonacci n=50
check loops.fsm horner 'c=[1, 2, 3]' x=2
check loops.fsm relax 'v=[0, 0, 0, 16]' k=3
check loops.fsm best 'v=[3, 1, 4, 1, 5]'
check loops.fsm loop_sums 'x=[1, 0.1]' 'y=[3, 0.1]'
check loops.fsm loop_sums 'x=[1, 0.1]' 'y=[]'
