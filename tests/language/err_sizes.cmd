fsmc check err_sizes.fsm
