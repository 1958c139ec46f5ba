fsmc --emit=loops -o - lanes.fsm | grep -E '^loops|for ' | grep -v otherwise
fsmc --explain=schedule --emit=loops -o /dev/null lanes.fsm 2>&1 | sed "s/about.*without/about A with lanes, B without/"
