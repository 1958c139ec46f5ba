# Also with all n terms written out.
sh growth.sh tl_skipped.fsm gradient x=vector+2 n=n dy=2 || exit
for n in 10 20 40; do
    terms=$(awk -v n=$n 'BEGIN { for (i = 2; i < n; i++) printf " + x[%d]", i }')
    echo "entry gradient (x: Double[n]) (dy: Double) = vjp (fun x -> x[0]$terms) x dy" > "$FSMC_TEST_TMP/terms$n.fsm"
    x=$(awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) printf "%s%d", i ? "," : "[", i; print "]" }')
    echo "$n terms: $(fsmc cost "$FSMC_TEST_TMP/terms$n.fsm" gradient x="$x" dy=2)" || exit
done
