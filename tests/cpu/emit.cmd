# Every kind of output.
fsmc --emit=ir --entry=dot arrays.fsm
fsmc --emit=loops --entry=dot arrays.fsm | grep "for i"
fsmc --emit=llvm --entry=dot arrays.fsm | grep -o 'define .*@dot'
fsmc --emit=llvm -O0 --entry=dot arrays.fsm | grep -o 'define .*@dot'
fsmc --emit=asm --entry=dot arrays.fsm | grep -c '^dot:'
fsmc --emit=fsm --entry=dot arrays.fsm -o "$FSMC_TEST_TMP/dot.fsm" && fsmc run "$FSMC_TEST_TMP/dot.fsm" dot 'x=[1, 2]' 'y=[3, 4]'
