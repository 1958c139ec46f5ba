# Choices between two arrays, one after the other, of which each has a condition that reads the array before: four times as many
# are four times as much work for their gradient, whichever arms are taken, and at most five times as much code, though what
# the arms compute may fail, and though 16 conditions can hold and fail in 65,536 ways.
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
for n in 3 4 8 16; do chain $n; done
lines() { fsmc "$FSMC_TEST_TMP/$1.fsm" --entry=g --emit=loops -o - | wc -l; }
few=$(lines 4) many=$(lines 16)
[ "$few" -gt 500 ] && [ "$many" -lt $((few * 5)) ] || echo "$few lines for 4 branches, $many for 16"
count() { fsmc cost "$FSMC_TEST_TMP/$1.fsm" g 'w=[0.5]' 'x=[0.25,-1,3,0.5,0.75,2,-0.5,1.25]' | tr -d '{}"'; }
{
    count 4 && count 16
} | awk -F '[:,]' 'NR == 1 { for (i = 2; i <= NF; i += 2) few[$(i - 1)] = $i }
    NR == 2 { for (i = 2; i <= NF; i += 2) if ($i > few[$(i - 1)] * 5 + 16) print $(i - 1) ": " few[$(i - 1)] " for 4, " $i " for 16" }'
for entry in f g; do
    check "$FSMC_TEST_TMP/3.fsm" $entry 'w=[]' 'x=[]'
    check "$FSMC_TEST_TMP/3.fsm" $entry 'w=[0.5]' 'x=[]'
    check "$FSMC_TEST_TMP/8.fsm" $entry 'w=[]' 'x=[]'
    check "$FSMC_TEST_TMP/8.fsm" $entry 'w=[0.5,2]' 'x=[0.25,-1,3]'
    check "$FSMC_TEST_TMP/8.fsm" $entry 'w=[0.9]' 'x=[1.25,-1,3]'
done
