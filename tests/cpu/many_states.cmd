# A loop with 300 states.
list() { awk -v f="$1" 'BEGIN { for (i = 0; i < 300; i++) printf("%s" f, i ? ", " : "", i) }'; }
next() { awk 'BEGIN { for (i = 0; i < 300; i++) printf("%ss%d + x", i ? ", " : "", (i + 1) % 300) }'; }
echo "entry f (x: Double) (n: Int) = fst (ifold (fun (a, ($(list s%d))) i -> (a + s0, ($(next)))) (0.0, ($(list %d.0))) n)" >"$FSMC_TEST_TMP/f.fsm"
for how in --interp '--exec -O0' --exec; do fsmc run $how "$FSMC_TEST_TMP/f.fsm" f x=0.5 n=5; done
