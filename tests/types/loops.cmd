fsmc run loops.fsm f < loops.json
