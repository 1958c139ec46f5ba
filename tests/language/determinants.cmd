# Ranks 4, 3, 3, 2, 1, 1, 0, 2, and 3 but for the last digits; and two of the first three.
regular='[[2,1,-1,3],[4,2.5,3,1],[1,-2,0.5,2],[1,1,0,2]]' three='[[1,2,3,4],[2,4,7,1],[3,6,10,5],[1,1,2,3]]' zeros='[[0,0,0,0],[0,3,1,0],[0,1,2,5],[0,1,1,3]]'
fewer='[[1,2,3,4],[5,6,7,8],[9,10,11,12],[13,14,15,16]],[[1,2,3,4],[2,4,6,8],[3,6,9,12],[4,8,12,16]],[[0,0,0,0],[0,0,0,0],[0,0,2,0],[0,0,0,0]]'
fewest='[[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]],[[0,0,0,0],[0,3,0,0],[0,0,0,0],[0,0,0,2]],[[0.1,0.2,0.3,0.4],[0.2,0.4,0.6,0.8],[0.3,0.7,0.9,1.2],[0.7,0.1,0.3,0.9]]'
for how in --interp -O2 '-O3 --fp=fast'; do
    echo "$how"
    fsmc run $how determinants.fsm two "a=[$regular,$three,$zeros,$fewer,$fewest]"
    for a in "$regular" "$three" "$zeros"; do [ "$how" != --interp ] || fsmc run $how determinants.fsm three "a=$a"; done
    fsmc run $how determinants.fsm single 'a=[[[1,2],[2,4]],[[3,1],[0,2]],[[0,0],[0,0]]]'
    fsmc run $how determinants.fsm tiny
    fsmc run $how determinants.fsm row 'a=[["NaN",2],[2,4]]'
done
fsmc run --interp determinants.fsm row 'a=[[1,2,3],[4,5]]'
