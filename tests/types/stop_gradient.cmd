fsmc run stop_gradient.fsm f < stop_gradient.json
