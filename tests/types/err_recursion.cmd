fsmc check err_recursion.fsm
