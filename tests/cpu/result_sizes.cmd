# Results whose sizes depend on elements of an argument.
. ./engines.sh
check result_sizes.fsm ramp 'k=[3]' x=2
check result_sizes.fsm ramp 'k=[0,7]' x=2
check result_sizes.fsm matrix 'k=[2,1]' x=1
fails result_sizes.fsm ramp 'k=[-1]' x=2
fails result_sizes.fsm ramp 'k=[]' x=2
fails result_sizes.fsm matrix 'k=[2,-3]' x=2
