fsmc run operators.fsm f x=2.5 k=7
