fsmc run derivatives_of_tuples.fsm f < derivatives_of_tuples.json
