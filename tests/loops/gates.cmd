# For each of 4 steps and 3 states, 5 functions forwards, and, if all is kept, none backwards.
w='w=[[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]]]'
u='u=[[[1,2,3],[4,5,6],[7,8,9]],[[1,2,3],[4,5,6],[7,8,9]],[[1,2,3],[4,5,6],[7,8,9]],[[1,2,3],[4,5,6],[7,8,9]]]'
b='b=[[1,2,3],[1,2,3],[1,2,3],[1,2,3]]'
xs='xs=[[1,2],[3,4],[5,6],[7,8]]'
fsmc cost --disable-pass=ahead gates.fsm byBias "$w" "$u" "$b" "$xs"
fsmc cost --disable-pass=ahead gates.fsm byAll "$w" "$u" "$b" "$xs"
# One array for the adjoint of the output.
fsmc --emit=loops --fp=fast --disable-pass=ahead --entry=byBias gates.fsm | grep -E '\] \+= ' | grep -vc out
# The matrices of all gates are added to at once, after a strip of steps.
fsmc --emit=loops --fp=fast --disable-pass=ahead --entry=byAll gates.fsm | grep -oE 'for (strip|part)_[0-9]* < [0-9t]*' | sed -E 's/_[0-9]+|t[0-9]+//g' | sort | uniq -c
fsmc gradcheck --fp=fast --trials=1 --range=-0.5,0.5 gates.fsm total n=16 m=17 t=70 | sed -E "s/agree to .*|; worst.*/…/"
