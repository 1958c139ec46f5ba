fsmc fmt --check "$FSMC_ROOT"/examples/*.fsm && echo formatted
