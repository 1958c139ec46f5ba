fsmc run array_literals.fsm f x=0.5
