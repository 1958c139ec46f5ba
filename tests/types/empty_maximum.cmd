fsmc run empty_maximum.fsm f < empty_maximum.json
