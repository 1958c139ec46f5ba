# ADOL-C's derivatives of the same objectives in C++, beside those by hand.
. ./adbench.sh
unset FSMC_ADBENCH
[ -e "${adbench%/*}/adolc.so" ] || { echo "there is no ADOL-C (Debian: libadolc-dev)"; exit 77; }
$adbench run --out=out --minimum=0 --samples=1 --derivative-samples=1 --tool=manual-gcc --tool=adolc gmm/20/gmm_d3_K4 gmm/9/gmm_d1_K2 ba/ba1_n3_m4_p9 \
    lstm/lstm_l2_c6_b3 hand/simple_small/hand1_t26_c5 hand/complicated_small/hand1_t26_c4 2>&1 | grep -v generating | sed 's/[0-9.e-]* ms/_ ms/g'
grep -h Violations out/Release/*/adolc/*_correctness_* out/Release/*/*/adolc/*_correctness_*
