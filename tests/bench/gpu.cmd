# The harness for GPUs, with small cases and the shim: results are those of the CPU's code.
case $CC in *fsanitize*) echo "the run-time library is sanitized"; exit 77 ;; esac
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }
export FSMC_EXPECT=-O0
sh "$FSMC_ROOT/bench/gpu/run.sh" --shim >"$FSMC_TEST_TMP/out" || cat "$FSMC_TEST_TMP/out"
awk 'NR > 2 { print $1, $2 }' "$FSMC_TEST_TMP/out"
