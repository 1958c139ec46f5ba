fsmc check err_derivatives.fsm
