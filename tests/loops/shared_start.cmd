for how in --interp --exec -O0 -O2 '-O2 --fp=fast'; do
    fsmc run $how shared_start.fsm differences 'a=[[2,1,-1],[4,2.5,3],[1,-2,0.5]]' 'da=[[0.5,-1,2],[0.25,1,-0.5],[1,3,-2]]' 'b=[1,-2,3]' | cut -c1-14
done
