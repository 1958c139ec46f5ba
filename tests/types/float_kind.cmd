fsmc run float_kind.fsm f x=0.1
