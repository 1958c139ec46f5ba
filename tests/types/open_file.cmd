fsmc run open_file.fsm f x=2.0
