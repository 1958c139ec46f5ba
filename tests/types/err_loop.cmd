fsmc check err_loop.fsm
