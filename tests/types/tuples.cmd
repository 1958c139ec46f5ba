fsmc run tuples.fsm f < tuples.json
