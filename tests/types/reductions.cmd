fsmc run reductions.fsm f < reductions.json
