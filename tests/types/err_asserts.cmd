fsmc check err_asserts.fsm
