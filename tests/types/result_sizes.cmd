fsmc check result_sizes.fsm && fsmc run result_sizes.fsm k < result_sizes.json; fsmc run result_sizes.fsm k < result_sizes_bad.json
