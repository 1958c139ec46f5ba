fsmc run table1.fsm table A=[[1,2],[3,4]] B=[[0,1],[1,0]] r=2 c=3
