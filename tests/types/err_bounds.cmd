fsmc check err_bounds.fsm
