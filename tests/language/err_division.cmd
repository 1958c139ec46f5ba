fsmc check err_division.fsm
