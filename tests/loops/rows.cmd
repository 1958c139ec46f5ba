fsmc --emit=loops --fp=fast --target-cpu=x86-64-v3 -o - rows.fsm | grep -E '^loops|for ' | grep -v check
echo '== in order'
fsmc --emit=loops --fp=precise --target-cpu=x86-64-v3 --entry=product -o - rows.fsm | grep -E '^loops|for ' | grep -v check
echo '== in threads'
fsmc --emit=loops --fp=fast --threads=2 --target-cpu=x86-64-v3 --entry=product -o - rows.fsm | grep -E '^loops|for |^ *b?[a-z0-9]*\[.*\] = ' | grep -v check
