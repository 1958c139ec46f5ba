fsmc run figure3.fsm core a=2 b=3 p=true q=false v=[1,2,3]
fsmc run figure3.fsm sugar v=[1,2] m=[[3],[4]] d=[1,2] 'vd=[[5,6],[7,8]]' 'md=[[[9,10]],[[11,12]]]' i=1 n=30
