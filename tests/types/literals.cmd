fsmc run literals.fsm f x=0.5
