fsmc check err_functions.fsm
