fsmc run negative_size.fsm f < negative_size.json; fsmc run negative_size.fsm g k=-1
