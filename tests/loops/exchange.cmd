for e in sorted eliminated; do fsmc --emit=loops --entry=$e exchange.fsm | awk '/new .*n, n/ { n++ } END { print n + 0, "matrices beside the result" }'; done
fsmc run exchange.fsm sorted a=[[1,2,3],[-4,5,6],[7,8,0]]
fsmc run --interp exchange.fsm sorted a=[[1,2,3],[-4,5,6],[7,8,0]]
