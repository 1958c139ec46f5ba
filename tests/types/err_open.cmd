fsmc check err_open.fsm
