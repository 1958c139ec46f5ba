fsmc run dual_numbers.fsm f < dual_numbers.json
