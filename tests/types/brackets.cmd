fsmc run brackets.fsm f < brackets.json
