fsmc check err_dimensions.fsm
