fsmc check err_bracket.fsm
