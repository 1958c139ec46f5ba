fsmc check err_expansion.fsm
