fsmc check warn_cut.fsm && fsmc run warn_cut.fsm g x=2.5
