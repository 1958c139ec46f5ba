fsmc --emit=loops --fp=fast -o - peel.fsm | grep -E '^loops|for | if | else|\?|\] = '
for e in stencil; do
    fsmc cost --fp=fast peel.fsm $e 'x=[[1,2,3,4,5,6],[1,2,3,4,5,6],[1,2,3,4,5,6],[1,2,3,4,5,6],[1,2,3,4,5,6]]' 'dy=[[1,2,3,4],[5,6,7,8],[1,2,3,4]]'
done
