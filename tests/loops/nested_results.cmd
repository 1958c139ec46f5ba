# Loops in loops with two results each, and their gradients: each loop stays one, so that values grow by as much with each level,
# and not by a factor.
program() {
    awk -v levels="$1" 'BEGIN {
        body = "(sin (a * x) + 0.5 * b, cos (b - a * x))"
        for (k = 0; k < levels; k++) body = "(loop (a = a, b = b) for i" k " < n do " body ")"
        print "entry g (x: Double) (n: Int) = grad (fun x ->"
        print "  let (a, b) = (let (a, b) = (x, 1.0) in " body ") in a * b) x"
    }'
}
for levels in 1 2 3 4; do
    program $levels >"$FSMC_TEST_TMP/f.fsm"
    fsmc --emit=ir "$FSMC_TEST_TMP/f.fsm" | wc -l >"$FSMC_TEST_TMP/lines$levels"
    fsmc run --interp "$FSMC_TEST_TMP/f.fsm" g x=0.3 n=2 | cut -c1-12
    fsmc run --fp=fast "$FSMC_TEST_TMP/f.fsm" g x=0.3 n=2 | cut -c1-12
done
read -r one <"$FSMC_TEST_TMP/lines1"
read -r four <"$FSMC_TEST_TMP/lines4"
[ "$one" -lt 500 ] && [ "$four" -lt $((2 * one)) ] || echo "$one lines for one loop, $four for four"
