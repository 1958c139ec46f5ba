fsmc --emit=loops -o - lanes.fsm | grep -E '^loops|for ' | grep -v otherwise
