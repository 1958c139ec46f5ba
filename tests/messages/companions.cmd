fsmc companions.fsm -o "$FSMC_TEST_TMP/x.o"
