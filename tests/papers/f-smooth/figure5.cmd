fsmc run figure5.fsm scalar x=0 y=3
fsmc run figure5.fsm vector x=[1,2] v=[3,4]
fsmc run figure5.fsm matrix x=[[1,2],[3,4]] v=[[5,6],[7,8]]
