fsmc run shadowing.fsm f x=2.0
