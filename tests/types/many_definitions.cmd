f=$FSMC_TEST_TMP/defs.fsm
awk 'BEGIN { print "let f0 x = x"; for (i = 1; i <= 5000; i++) printf "let f%d x = f%d x + 1\n", i, i - 1; print "entry g (x: Double) = f5000 x" }' > $f
fsmc check --error-limit=1 $f 2>&1 | sed "s#$FSMC_TEST_TMP/##" | head -n 2
