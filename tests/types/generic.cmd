fsmc run generic.fsm f < generic.json
