# Nests of loops for threads (lower/spread.c): elements outside of what adds to them, one length for all rows, several things apart, the first
# of the greatest by all threads.
fsmc --target=cuda --fp=fast --entry=turned --emit=loops ../ad/spread.fsm | sed -n '/grid/,$p'
fsmc --target=cuda --fp=fast --entry=lengthened --emit=loops ../ad/spread.fsm | sed -n '/grid/,$p'
fsmc --target=cuda --fp=fast --entry=divided --emit=loops ../ad/spread.fsm | sed -n '/^  } else {/,$p' | sed -n '1,/^    } else/p'
fsmc --target=cuda --fp=fast --entry=firsts --emit=loops ../ad/spread.fsm | sed -n '/grid for i/,/^  }/p'
fsmc --target=cuda --fp=fast --entry=filtered --emit=loops ../ad/spread.fsm | sed -n '/grid/,$p'
