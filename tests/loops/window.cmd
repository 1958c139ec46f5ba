fsmc --emit=loops -o - window.fsm | grep -E "^loops|for " | grep -v 'check'
echo '== windows are longer'
echo 'window 200' >"$FSMC_TEST_TMP/wide.txt"
fsmc --machine="$FSMC_TEST_TMP/wide.txt" --emit=loops --entry=filter -o - window.fsm | grep -E '^loops|for '  | grep -v 'check'
