# Values worked out by hand. `vectorOutProd` is the inner product as printed (see the errata in docs/language.md).
fsmc run figure4.fsm makers n=3
fsmc run figure4.fsm elementwise v=[1,2,3] w=[4,6,8]
fsmc run figure4.fsm reductions v=[2,3,6] w=[1,10,100]
fsmc run figure4.fsm parts v=[1,2,3] w=[4,5,6]
fsmc run figure4.fsm matrices n=2
fsmc run figure4.fsm products m=[[1,2,3],[4,5,6]] k=[[1,0],[0,1],[2,2]]
