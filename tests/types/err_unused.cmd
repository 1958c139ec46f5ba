fsmc check err_unused.fsm
