fsmc check err_custom.fsm; fsmc check err_custom_types.fsm
