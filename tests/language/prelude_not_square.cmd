fsmc check prelude_not_square.fsm
