fsmc run prelude.fsm f < prelude.json
