fsmc fmt style.fsm
