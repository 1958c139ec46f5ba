fsmc run definition_order.fsm f x=2.0
