fsmc check err_states.fsm
