fsmc run sizes_bound.fsm f < sizes_bound.json
