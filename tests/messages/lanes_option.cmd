for v in 3 16 x -1; do fsmc check --lanes=$v x.fsm; fsmc run --lanes=$v x.fsm f; done 2>&1
