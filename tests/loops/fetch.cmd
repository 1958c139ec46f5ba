# With a cache of 1 KiB all of q is large: the same values, wherever rows end. Nothing is asked for of what is known to be small.
echo 'cache 1024' >"$FSMC_TEST_TMP/small"
fsmc --machine="$FSMC_TEST_TMP/small" --emit=loops -o - fetch.fsm | sed '/^} otherwise/q' | grep -B 3 -A 3 fetch
row() { awk -v n="$1" -v s="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s%.3f", i ? "," : "[", 0.3 * sin(s + 3 * i); print "]" }'; }
rows() { for i in $(seq $1); do row $2 $i; done | paste -sd, | sed 's/.*/[&]/'; }
for d in 1 4 17; do
    for how in --exec --lanes=8 "--lanes=8 --machine=$FSMC_TEST_TMP/small"; do
        fsmc run $how fetch.fsm triangles "q=[$(rows $d $d),$(rows $d $d)]" "x=$(rows 35 $d)" |
            awk -F'[][,]' '{ for (i = 2; i < NF; i++) s += i * $i; printf "%.10g\n", s }'
    done
done
