a=[[2,1,-1],[4,2.5,3],[1,-2,0.5]] b=[1,-2,3] da=[[0.5,-1,2],[0.25,1,-0.5],[1,3,-2]]
for how in -O0 --interp; do
    fsmc run $how prelude_equations.fsm identities a=$a b=$b
    fsmc run $how prelude_equations.fsm first a=$a b=$b da=$da db=[2,1,-1]
    fsmc run $how prelude_equations.fsm second a=$a b=$b da=$da
done
# By hand: [[4, 7], [2, 6]] has determinant 10 and inverse [[0.6, -0.7], [-0.2, 0.4]]; pivoting is needed for [[0, 1], [1, 0]].
printf '%s\n' '[[[4,8],[2,6]], [16,10]]' '[[[0,1],[1,0]], [3,4]]' '[[[5]], [10]]' '[[], []]' '[[[1,1],[1,1]], [1,2]]' |
    fsmc run prelude_equations.fsm values --calls=-
printf '%s\n' '[[[0,1],[0,1]]]' '[[[1,2,3],[2,4,6],[3,6,10]]]' '[[[0,0],[0,0]]]' | fsmc run prelude_equations.fsm singular --calls=-
