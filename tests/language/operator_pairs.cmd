# Every operator around every other: how many pairs there are, and those with an error, by the interpreter and compiled.
pairs() { sed -n 's/^entry \([A-Za-z0-9_]*\) .*/\1/p' operator_pairs.fsm; }
for entry in $(pairs); do
    for how in --interp -O1; do
        fsmc run $how operator_pairs.fsm $entry x=0.7 | tr -d '[] ' | tr , '\n' |
            awk -v entry="$entry $how" '!($1 < 1e-11 && $1 > -1e-11) { print entry, NR, $1 } END { print NR >> "/dev/stderr" }' 2>> "$FSMC_TEST_TMP/count"
    done
done
echo $(awk '{ n += $1 } END { print n }' "$FSMC_TEST_TMP/count") pairs
