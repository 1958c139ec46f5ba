# What -b finds: a derivative that is dearer by a power of n; with low thresholds, programs, each with a smaller one
# that is over them alike; and values that are wrong.
fuzz="$FSMC_BUILD/fsmc_fuzz -b -f"
$fuzz bound_dear.fsm | sed 's/[0-9]*\.[0-9][0-9]/…/g'
$fuzz -F 20 -G 20 bound_dear.fsm >"$FSMC_TEST_TMP/allowed"
echo "with high thresholds: exit $?"
cd "$FSMC_TEST_TMP" || exit 1
$fuzz -F 0.9 -G 1000 -k 60 -s 21080 -n 4 >low
echo "with low ones: exit $?"
tail -n 1 low | sed 's/, [0-9]* over/, … over/'
awk '/^seed/ { sub(":", ""); to = "seed" $2 } /^smaller/ { to = "small" substr(to, 5) }
     /^entry|^  / && !/^  f_.*: / { print >(to ".fsm") }' low
ls seed*.fsm >/dev/null || echo "nothing is reported"
for p in seed*.fsm; do
    seed=${p#seed} seed=${seed%.fsm}
    [ "$(wc -c <"small$seed.fsm")" -lt "$(wc -c <"$p")" ] || echo "$seed: it is not smaller"
    $fuzz -F 0.9 -G 1000 -s "$seed" "small$seed.fsm" | grep -q 'over the bound' || echo "$seed: it is not over the bound"
done
FSMC_TEST_WRONG=convert $fuzz -k 60 -s 21081 -n 1 >wrong
echo "with a sum for a product: exit $?"
grep -c 'wrong: f: element 0' wrong
tail -n 1 wrong
