fsmc run out_of_range.fsm f < guards.json
