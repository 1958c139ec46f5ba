# What is assumed of the machine decides.
show() { fsmc "$@" --threads=2 --emit=loops --explain=schedule -o - machine.fsm 2>&1 | grep -E '^loops|for |schedule'; }
show
cat >"$FSMC_TEST_TMP/slow.txt" <<'END'
move 50      # elements that are apart
row 20
chunk 100    # threads wake at once
registers 4
END
echo '== slow memory, cheap threads, few registers'
show --machine="$FSMC_TEST_TMP/slow.txt"
