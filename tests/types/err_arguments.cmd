fsmc check err_arguments.fsm
