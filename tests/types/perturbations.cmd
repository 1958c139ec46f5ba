fsmc run perturbations.fsm f x=3.0 y=4.0
