# [FS] Fig. 9: forward mode executes what reverse mode does, with 10 directions and with 1000.
sh "$FSMC_ROOT/bench/forward/run.sh" cost dot max largest scale --sizes="10 20 40 1000" >"$FSMC_TEST_TMP/counts" || exit
cat "$FSMC_TEST_TMP/counts"
awk 'NR > 1 && $14 > 1 { print $1, $2, $3 ": more than reverse mode"; bad = 1 } END { if (!bad) print "none more than reverse mode" }' "$FSMC_TEST_TMP/counts"
