fsmc run conversions.fsm f x=2.75
