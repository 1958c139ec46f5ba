# [FS] Figs. 9 and 10, derivatives with n x n numbers: forward mode executes what reverse mode does, up to a factor that is the same
# for all n. All that is not zero of the Jacobian of a sum is n numbers.
run() { sh "$FSMC_ROOT/bench/forward/run.sh" cost "$@" | sed 1d; }
{ run add nnmf nnmf10 nnmfW --sizes="10 20 40" && run sparse --sizes="10 20 40 1000"; } >"$FSMC_TEST_TMP/counts" || exit
cat "$FSMC_TEST_TMP/counts"
awk '$14 > 1.5 { print $1, $2, $3 ": much more than reverse mode"; bad = 1 } END { if (!bad) print "none much more than reverse mode" }' "$FSMC_TEST_TMP/counts"
