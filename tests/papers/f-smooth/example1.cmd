for entry in forward oneHot reverse; do
    sh ../derive.sh example1.fsm $entry u=[1,2] M=[[1,2,3],[4,5,6]] v=[3,4,5] || exit
done
