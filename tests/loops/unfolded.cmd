fsmc --emit=loops --fp=fast -o - unfolded.fsm | sed '/otherwise/,$d' | grep -E '^ *for |\] = '
fsmc run --fp=fast unfolded.fsm moved 'us=[[0.25,0.5],[0.125,0.75]]' 'at=[[0,1,2],[2,0,1]]' 'v=[[1,2,3],[5,7,9],[2,8,4]]' 'turn=[[1,2,0],[0,1,0],[0,0,2]]' 'points=[[0,0,0],[0,0,0]]'
# The arrays of a branch that is always taken are those of what is around it: the loops over directions go inside of those over points.
fsmc --explain=schedule --fp=fast --emit=loops -o /dev/null ../../bench/adbench/hand.fsm 2>&1 | grep -c 'goes inside'
