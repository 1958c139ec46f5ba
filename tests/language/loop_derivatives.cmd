# Compiled code prints the same numbers.
sh each.sh loop_derivatives.fsm --interp | tee "$FSMC_TEST_TMP/interp"
sh each.sh loop_derivatives.fsm | diff "$FSMC_TEST_TMP/interp" -
