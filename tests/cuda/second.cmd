# Second derivatives of some programs of tests/ad as CUDA code, against the interpreter (all of them: cuda_programs -2).
case $CC in *fsanitize*) echo "it is the generated code that is tested"; exit 77 ;; esac
"$FSMC_BUILD/tests/cuda_programs" -2 folds.fsm scans.fsm softmax.fsm scatters.fsm selects.fsm matrix_products.fsm mixture.fsm >"$FSMC_TEST_TMP/out" || sed '/^ok/d' "$FSMC_TEST_TMP/out"
sed -n 's/^ok \([^ ]*\) .*, second order$/\1/p' "$FSMC_TEST_TMP/out" | sort | uniq -c
