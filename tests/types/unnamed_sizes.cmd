fsmc run unnamed_sizes.fsm f < unnamed_sizes.json && fsmc --emit=ir unnamed_sizes.fsm -o - | head -n 1
