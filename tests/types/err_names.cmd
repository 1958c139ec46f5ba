fsmc check err_names.fsm
