fsmc check opened_twice.fsm
sed 's/same x + //' opened_twice.fsm > "$FSMC_TEST_TMP/f.fsm"
fsmc run -I . "$FSMC_TEST_TMP/f.fsm" f x=2
# One file opened along two ways is one file.
printf 'open "opened_a.inc"\nlet viaC x = onlyA x\n' > "$FSMC_TEST_TMP/c.inc"
printf 'open "c.inc"\nopen "opened_a.inc"\nentry g (x: Double) = viaC x + same x\n' > "$FSMC_TEST_TMP/g.fsm"
fsmc run -I . "$FSMC_TEST_TMP/g.fsm" g x=2
