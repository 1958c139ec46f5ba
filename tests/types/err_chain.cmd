fsmc check err_chain.fsm
