fsmc check err_entries.fsm
