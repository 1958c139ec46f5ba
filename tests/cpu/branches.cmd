# Values that may fail, and that branches inside of branches need, are written out for some of these and then made by need:
# twice as many branches, one after the other, are at most six times as much code for their gradient, and not thirty times.
. ./engines.sh
chain() { # of so many branches
    awk -v n="$1" 'BEGIN {
        print "let stage w x = if x[0] > w[0] then map (fun v -> v * w[0]) x else map (fun v -> sin v + w[0]) x"
        for (i = n; i; i--) { open = open "stage w ("; shut = shut ")" }
        print "let model w x = sum (length x) (fun i -> (" open "x" shut ")[i] * x[i])"
        print "entry f (w: Double[d]) (x: Double[n]) = model w x"
        print "entry g (w: Double[d]) (x: Double[n]) = grad (fun w -> model w x) w"
    }' >"$FSMC_TEST_TMP/$1.fsm"
}
for n in 3 4 8; do chain $n; done
lines() { fsmc "$FSMC_TEST_TMP/$1.fsm" --entry=g --emit=loops -o - | wc -l; }
few=$(lines 4) many=$(lines 8)
[ "$few" -gt 500 ] && [ "$many" -lt $((few * 6)) ] || echo "$few lines for 4 branches, $many for 8"
for entry in f g; do
    check "$FSMC_TEST_TMP/3.fsm" $entry 'w=[]' 'x=[]'
    check "$FSMC_TEST_TMP/3.fsm" $entry 'w=[0.5]' 'x=[]'
    check "$FSMC_TEST_TMP/8.fsm" $entry 'w=[]' 'x=[]'
    check "$FSMC_TEST_TMP/8.fsm" $entry 'w=[0.5,2]' 'x=[0.25,-1,3]'
    check "$FSMC_TEST_TMP/8.fsm" $entry 'w=[0.9]' 'x=[1.25,-1,3]'
done
