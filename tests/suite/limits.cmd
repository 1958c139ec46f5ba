# A test that uses too much of the processor is stopped, with all its processes, and the message says so.
FSMC_TEST_TIMES=$FSMC_TEST_TMP/times FSMC_TEST_TIMEOUT=0.01 fsmc_tests errors/deep | sed 's/[0-9]*\.[0-9] s/… s/'
