# Which sums have lanes, from which length on a loop around has none, and the same numbers with all lanes.
for cpu in x86-64-v4 x86-64-v3; do
    for e in dots squares columns windows; do
        echo "$cpu $e: $(fsmc --target-cpu=$cpu --entry=$e --emit=loops row_sums.fsm -o - | sed '/^} otherwise/q' | grep -o '[a-z ]*lanes for\|^ *for\|otherwise {' |
            sed 's/^ *//' | tr '\n' ';')"
    done
    echo "$cpu layer: short rows: $(fsmc --target-cpu=$cpu --fp=fast --entry=layer --emit=loops row_sums.fsm -o - | grep -o '<= [1-9][0-9]*$' | tr '\n' ';')"
done
for m in 1 6; do
    for n in 1 7 8 9 16 17 23 33 63; do
        a=$(awk -v m=$m -v n=$n 'BEGIN { printf "["; for (i = 0; i < m; i++) { printf "%s[", i ? "," : ""; for (j = 0; j < n; j++) printf "%s%d", j ? "," : "", (i * 7 + j * 3) % 11 - 5; printf "]" } print "]" }')
        x=$(awk -v n=$n 'BEGIN { printf "["; for (j = 0; j < n; j++) printf "%s%d", j ? "," : "", j * 5 % 13 - 6; print "]" }')
        for e in dots squares; do
            case $e in dots) more="x=$x" ;; *) more= ;; esac
            fsmc run --interp row_sums.fsm $e "a=$a" $more >"$FSMC_TEST_TMP/expected"
            for how in "--exec --lanes=8" "--exec --lanes=4" "--target-cpu=native" "--lanes=2"; do
                fsmc run $how row_sums.fsm $e "a=$a" $more | cmp -s - "$FSMC_TEST_TMP/expected" || echo "$e $m $n $how: another result"
            done
        done
    done
done
