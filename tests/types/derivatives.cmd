fsmc run derivatives.fsm f < derivatives.json
