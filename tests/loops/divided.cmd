for registers in 16 32; do
    echo "registers $registers" >"$FSMC_TEST_TMP/$registers"
    n=$(fsmc --lanes=4 --machine="$FSMC_TEST_TMP/$registers" --emit=loops -o - divided.fsm | grep -v rows | grep -cE '^ {6}(  )?for k')
    echo "$registers registers: $n loops over rows"
done
value() { awk -v n=$1 -v m=$2 'BEGIN { for (i = 0; i < n; i++) { printf i ? ",[" : "[["; for (j = 0; j < m; j++) printf "%s%g", j ? "," : "", (7 * i + 3 * j) % 5 - 2; printf "]" } print "]" }'; }
for how in --interp "-O2 --machine=$FSMC_TEST_TMP/16"; do
    fsmc run $how divided.fsm adjoints a=$(value 5 7) b=$(value 7 9) dy=$(value 5 9)
done
