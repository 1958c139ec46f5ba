fsmc run higher_order.fsm f x=4.0
