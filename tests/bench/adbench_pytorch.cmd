# The derivatives of pytorch, by its adapter, beside those by hand.
$FSMC_ROOT/bench/adbench/peers/pytorch --version >"$FSMC_TEST_TMP/version" || { echo "the adapter of pytorch: $(cat "$FSMC_TEST_TMP/version")"; exit 77; }
. ./adbench.sh
unset FSMC_ADBENCH
$adbench run --out=out --minimum=0 --samples=1 --derivative-samples=1 --tool=manual-gcc --tool=pytorch gmm/20/gmm_d3_K4 ba/ba1_n3_m4_p9 \
    lstm/lstm_l2_c6_b3 hand/simple_small/hand1_t26_c5 hand/complicated_small/hand1_t26_c4 2>&1 | grep -v generating | sed 's/[0-9.e-]* ms/_ ms/g'
grep -h Violations out/Release/*/pytorch/*_correctness_* out/Release/*/*/pytorch/*_correctness_*
