# The stages, without their times.
fsmc --passes=simplify --time-passes -o "$FSMC_TEST_TMP/t.o" tuples.fsm 2>&1 | sed 's/^ *[0-9.]* ms/ms/'
