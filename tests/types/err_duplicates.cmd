fsmc check err_duplicates.fsm
