fsmc run guards.fsm f < guards.json
