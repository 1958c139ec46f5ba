fsmc check err_captures.fsm; fsmc check err_captures_types.fsm
