fsmc check err_derivative_sizes.fsm
