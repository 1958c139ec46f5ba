# For each of 4 steps and 3 states, 5 functions forwards, and, if all is kept, none backwards.
w='w=[[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]]]'
u='u=[[[1,2,3],[4,5,6],[7,8,9]],[[1,2,3],[4,5,6],[7,8,9]],[[1,2,3],[4,5,6],[7,8,9]],[[1,2,3],[4,5,6],[7,8,9]]]'
b='b=[[1,2,3],[1,2,3],[1,2,3],[1,2,3]]'
xs='xs=[[1,2],[3,4],[5,6],[7,8]]'
fsmc cost gates.fsm byBias "$w" "$u" "$b" "$xs"
fsmc cost gates.fsm byAll "$w" "$u" "$b" "$xs"
# One array for the adjoint of the output.
fsmc --emit=loops --fp=fast --entry=byBias gates.fsm | grep -E '\] \+= ' | grep -vc out
