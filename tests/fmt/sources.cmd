fsmc fmt --check "$FSMC_ROOT"/examples/*.fsm "$FSMC_ROOT"/runtime/prelude/*.fsm && echo formatted
