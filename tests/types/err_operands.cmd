fsmc check err_operands.fsm
