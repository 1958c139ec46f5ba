f=$FSMC_TEST_TMP/lets.fsm
awk 'BEGIN { print "entry f (x0: Double) ="; for (i = 1; i <= 20000; i++) printf "  let x%d = x%d + 1\n", i, i - 1; print "  x20000" }' > $f
fsmc run $f f x0=0.5
