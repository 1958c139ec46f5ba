fsmc check data_dependent_size.fsm
