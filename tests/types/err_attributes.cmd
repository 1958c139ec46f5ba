fsmc check err_attributes.fsm
