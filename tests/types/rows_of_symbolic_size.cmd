fsmc run rows_of_symbolic_size.fsm f < rows_of_symbolic_size.json
