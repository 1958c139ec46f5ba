fsmc --threads=2 --emit=loops --entry=weights -o - threads.fsm
fsmc --threads=2 --emit=loops --entry=rows -o - threads.fsm | grep -v -e check -e ' = arg'
fsmc --threads=2 --emit=loops -o - threads.fsm | grep -E '^loops|for |new|chunk' | grep -v otherwise
fsmc --threads=2 --explain=schedule --emit=loops -o /dev/null threads.fsm 2>&1 | grep threads
