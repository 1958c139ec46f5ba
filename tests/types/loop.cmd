fsmc run loop.fsm f x=2 n=3; fsmc run --interp loop.fsm f x=2 n=3
