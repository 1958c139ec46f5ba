fsmc --threads=2 --emit=loops --entry=weights -o - threads.fsm
for e in rows bumps; do fsmc --threads=2 --emit=loops --entry=$e -o - threads.fsm | sed '/otherwise/,$d' | grep -v -e check -e ' = arg'; done
fsmc --threads=2 --emit=loops -o - threads.fsm | grep -E '^loops|for |new|chunk' | grep -v otherwise
fsmc --threads=2 --explain=schedule --emit=loops -o /dev/null threads.fsm 2>&1 | grep threads
