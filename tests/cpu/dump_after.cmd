# The program after every pass, on standard error.
cat >"$FSMC_TEST_TMP/f.fsm" <<'END'
entry f (x: Double) (y: Double) = if x > y then (if x > y then x else 1.0) * y else 2.0
entry same (x: Double) = x
END
fsmc --passes=simplify,simplify --dump-after=all --emit=loops -o /dev/null "$FSMC_TEST_TMP/f.fsm"
echo "only elaborate:" >&2
fsmc --passes=simplify --dump-after=elaborate --emit=loops -o /dev/null "$FSMC_TEST_TMP/f.fsm" --entry same
