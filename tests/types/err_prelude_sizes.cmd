fsmc check err_prelude_sizes.fsm
