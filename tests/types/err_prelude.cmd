fsmc check err_prelude.fsm
