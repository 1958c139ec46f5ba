fsmc check err_if_commas.fsm
