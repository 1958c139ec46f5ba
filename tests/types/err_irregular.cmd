fsmc check err_irregular.fsm
