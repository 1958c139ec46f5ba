fsmc run closures.fsm f x=3.0
