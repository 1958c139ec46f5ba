# An entry that runs without its context, with places.
for o in "-O0 -g" "-O3 -g"; do fsmc $o small.fsm -o "$FSMC_TEST_TMP/small.o" && echo "$o: compiled"; done
