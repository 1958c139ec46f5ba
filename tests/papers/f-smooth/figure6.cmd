fsmc run figure6.fsm byScalar t=0
fsmc run figure6.fsm byVector v=[1,2,3]
fsmc run figure6.fsm byMatrix m=[[1,2],[3,4]]
fsmc run figure6.fsm defined t=0 v=[1,2,3]
