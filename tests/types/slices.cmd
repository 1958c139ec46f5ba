fsmc run slices.fsm f < slices.json
